// A file's descriptor from one process to another, through a socket.
#pragma once

#include <sys/socket.h>

#include <cstring>

/// A message of one byte with room for a descriptor.
struct DescriptorMessage {
  char room[CMSG_SPACE(sizeof(int))] = {}, byte = 0;
  iovec data{&byte, 1};
  msghdr header{};

  DescriptorMessage() {
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = room;
    header.msg_controllen = sizeof room;
  }
  DescriptorMessage(const DescriptorMessage&) = delete;
  DescriptorMessage& operator=(const DescriptorMessage&) = delete;
};

inline void send_file(int socket, int file) {
  DescriptorMessage message;
  cmsghdr* head = CMSG_FIRSTHDR(&message.header);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof file);
  std::memcpy(CMSG_DATA(head), &file, sizeof file);
  sendmsg(socket, &message.header, 0);
}

/// -1: none came.
inline int receive_file(int socket) {
  DescriptorMessage message;
  int file = -1;
  if (recvmsg(socket, &message.header, 0) == 1 && CMSG_FIRSTHDR(&message.header) != nullptr)
    std::memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message.header)), sizeof file);
  return file;
}
