// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.vfio;

import io.dra4j.nvidia.pci.PciBus;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The processes of the node that have device nodes open, as {@code fuser} finds them.
 *
 * @param proc procfs of the node; without the node's processes, fewer users are found
 */
record NodeUsers(Path proc) {

    private static final int MOST_NAMED = 5;

    /** A process that has a device node open, and the name of its program. */
    record User(long pid, String name) {
        @Override
        public String toString() {
            return name + " (process " + pid + ")";
        }
    }

    /**
     * Finds the users of a device node.
     *
     * @param node its path relative to {@code /}: {@code dev/nvidia0}
     */
    List<User> of(Path node) {
        List<User> users = new ArrayList<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(proc, "[0-9]*")) {
            for (Path process : processes) {
                if (hasOpen(process, node)) {
                    users.add(user(process));
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            return users; // without procfs, only the deadline for the kernel's answer remains
        }
        return users;
    }

    private static boolean hasOpen(Path process, Path node) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(process.resolve("fd"))) {
            for (Path file : files) {
                if (PciBus.link(file).filter(open -> open.endsWith(node)).isPresent()) {
                    return true;
                }
            }
            return false;
        } catch (IOException | DirectoryIteratorException e) {
            return false; // it has ended
        }
    }

    private static User user(Path process) {
        long pid = Long.parseLong(process.getFileName().toString());
        return new User(pid, PciBus.text(process.resolve("comm")).orElse("a program that has ended"));
    }

    static String named(List<User> users) {
        String first = users.stream().limit(MOST_NAMED).map(User::toString).collect(Collectors.joining(", "));
        return users.size() <= MOST_NAMED ? first : first + " and %d more".formatted(users.size() - MOST_NAMED);
    }
}
