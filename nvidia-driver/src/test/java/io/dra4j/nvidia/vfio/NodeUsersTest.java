// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.vfio;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.nvidia.vfio.NodeUsers.User;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NodeUsersTest {

    private static final Path GPU = Path.of("dev/nvidia1");

    @TempDir
    private Path proc;

    private Path process(int pid, String... open) throws IOException {
        Path files = Files.createDirectories(proc.resolve(pid + "/fd"));
        for (int i = 0; i < open.length; i++) {
            Files.createSymbolicLink(files.resolve(String.valueOf(i)), Path.of(open[i]));
        }
        return files.getParent();
    }

    @Test
    void areThoseThatHaveTheNodeItselfOpen() throws Exception {
        Files.writeString(process(7, "/dev/null", "/dev/nvidia1").resolve("comm"), "hostengine\n");
        process(8, "/dev/nvidia10", "/dev/nvidia1-log", "socket:[1]");
        process(9, "/run/root/dev/nvidia1"); // and ends before its name is read
        Files.createDirectories(proc.resolve("10"));
        Files.createDirectories(proc.resolve("self/fd"));

        List<User> users = new NodeUsers(proc).of(GPU);

        assertThat(users).containsExactlyInAnyOrder(new User(7, "hostengine"), new User(9, "a program that has ended"));
    }

    @Test
    void areNoneWithoutProcfs() {
        assertThat(new NodeUsers(proc.resolve("none")).of(GPU)).isEmpty();
    }

    @Test
    void areNamedUpToFive() {
        List<User> users =
                LongStream.range(1, 8).mapToObj(pid -> new User(pid, "p")).toList();

        assertThat(NodeUsers.named(users.subList(0, 2))).isEqualTo("p (process 1), p (process 2)");
        assertThat(NodeUsers.named(users.subList(0, 5))).endsWith("p (process 5)");
        assertThat(NodeUsers.named(users)).endsWith("p (process 5) and 2 more");
    }
}
