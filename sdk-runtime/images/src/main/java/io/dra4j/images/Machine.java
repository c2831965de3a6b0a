// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import java.util.stream.Stream;

/**
 * An architecture of images, by default the build machine's.
 *
 * @param architecture its name in OCI
 * @param elf its number in programs and libraries, by elf.h
 * @param libraries the folder of its libraries in Debian
 * @param loader the path of the dynamic loader, which programs name
 * @param netty the name of Netty's library of native transport
 * @param jna the folder of JNA's library in its jar
 */
record Machine(String architecture, int elf, String libraries, String loader, String netty, String jna) {

    private static final Machine AMD64 = new Machine(
            "amd64",
            62,
            "/usr/lib/x86_64-linux-gnu",
            "/lib64/ld-linux-x86-64.so.2",
            "libnetty_transport_native_epoll_x86_64.so",
            "linux-x86-64");

    private static final Machine ARM64 = new Machine(
            "arm64",
            183,
            "/usr/lib/aarch64-linux-gnu",
            "/lib/ld-linux-aarch64.so.1",
            "libnetty_transport_native_epoll_aarch_64.so",
            "linux-aarch64");

    static Machine current() {
        String name = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        return switch (name) {
            case "Linux amd64" -> AMD64;
            case "Linux aarch64" -> ARM64;
            default ->
                throw new ImageBuildException("Images can be built on Linux with amd64 or arm64, not on " + name);
        };
    }

    static Machine named(String architecture) {
        return Stream.of(AMD64, ARM64)
                .filter(machine -> machine.architecture.equals(architecture))
                .findFirst()
                .orElseThrow(() -> new ImageBuildException(
                        "The architecture of an image must be amd64 or arm64, not " + architecture));
    }
}
