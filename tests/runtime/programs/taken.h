// Included before a program: mappings of its own where Foretrace places device memory and reservations, as those of allocators are that draw
// addresses at random.
#pragma once

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

__attribute__((constructor)) static void take_addresses() {
  for (const unsigned long wanted : {0x2800'0000'0000ul, 0x3000'0000'0000ul}) {
    void* const at = reinterpret_cast<void*>(wanted);
    if (mmap(at, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == at) continue;
    std::puts("the addresses were taken before the program");
    std::exit(1);
  }
}
