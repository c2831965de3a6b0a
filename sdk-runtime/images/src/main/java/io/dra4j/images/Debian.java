// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * An installation of Debian packages, the source of the images' files. It is the build machine's, or a folder with
 * packages of another architecture.
 */
record Debian(Machine machine, Path root) {

    private static final Path HERE = Path.of("/");

    /** A base, and a JDK for its modules; their dependencies are also unpacked. */
    private static final List<String> PACKAGES =
            List.of("bash", "busybox-static", "libc-bin", "openjdk-" + Jdk.RELEASE + "-jdk-headless");

    static Debian here() {
        return new Debian(Machine.current(), HERE);
    }

    /** The installation of an architecture: the build machine's, or one downloaded into a folder. */
    static Debian of(Machine machine, Path folder) {
        if (machine.equals(Machine.current())) {
            return here();
        }
        unpack(List.of(), machine, folder);
        return new Debian(machine, folder.resolve("root"));
    }

    /** Downloads and unpacks the packages, with a shell that a given command starts. */
    static void unpack(List<String> words, Machine machine, Path folder) {
        List<String> command = new ArrayList<>(words);
        command.addAll(List.of(
                "/bin/sh",
                "-c",
                Folders.packaged("debian-root"),
                "debian-root",
                folder.toString(),
                machine.architecture()));
        command.addAll(PACKAGES);
        Tool.output(command);
    }

    /** Returns whether it is the build machine's, whose programs run here. */
    boolean isHere() {
        return root.equals(HERE);
    }

    /** Returns the build machine's file for a path of the installation. */
    Path file(String path) {
        return root.resolve(path.substring(1));
    }

    /** Returns the package of a file, which it may have in {@code /lib} although that is a link to {@code /usr/lib}. */
    String owner(Path file) {
        try {
            String path = "/" + root.toRealPath().relativize(file.toRealPath());
            String owner = query("--search", "*" + path.replaceFirst("^/usr/", "/"));
            return owner.substring(0, owner.indexOf(':'));
        } catch (IOException e) {
            throw new ImageBuildException("Can't resolve " + file, e);
        }
    }

    /** Queries its package database for a package; there may also be that of another architecture. */
    String about(String name, String... options) {
        String[] words = Arrays.copyOf(options, options.length + 1);
        words[options.length] = name + ":" + machine.architecture();
        return query(words);
    }

    private String query(String... words) {
        List<String> command = new ArrayList<>(List.of("dpkg-query", "--admindir=" + file("/var/lib/dpkg")));
        command.addAll(List.of(words));
        return Tool.output(command);
    }

    /** Returns the name of the distribution, {@code debian} or that of a derived one. */
    String distribution() {
        return Folders.properties(file("/etc/os-release"))
                .getProperty("ID", "debian")
                .replace("\"", "");
    }

    /** Returns a library, which is below {@code /lib} if that is not a link to {@code /usr/lib}. */
    Path library(String path) {
        Path file = file(path);
        return Files.exists(file) ? file : file(path.substring("/usr".length()));
    }
}
