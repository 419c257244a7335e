// A file's descriptor from one process to another, through a socket.
#pragma once

#include <sys/socket.h>

#include <cstring>

inline void send_file(int socket, int file) {
  char room[CMSG_SPACE(sizeof file)] = {}, byte = 0;
  iovec data{&byte, 1};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof file);
  std::memcpy(CMSG_DATA(head), &file, sizeof file);
  sendmsg(socket, &message, 0);
}

/// -1: none came.
inline int receive_file(int socket) {
  char room[CMSG_SPACE(sizeof(int))] = {}, byte = 0;
  iovec data{&byte, 1};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  int file = -1;
  if (recvmsg(socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message) != nullptr)
    std::memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
  return file;
}
