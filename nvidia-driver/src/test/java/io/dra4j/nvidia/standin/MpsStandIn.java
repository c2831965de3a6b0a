// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.standin;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

/**
 * A stand-in of {@code nvidia-cuda-mps-control}: daemons that bind a socket, start a server and
 * keep what they are told, and the client.
 *
 * <p>Of the questions whether a daemon is ready, only the first that is answered is recorded.
 */
public final class MpsStandIn extends ProgramStandIn {

    private static final String NAME = "nvidia-cuda-mps-control";

    private MpsStandIn(StandInNode node, Path program) throws IOException {
        super(node, NAME, StandInNode.text("standin/mps.sh").formatted(program));
        Path server = node.root().resolve("usr/bin/nvidia-cuda-mps-server"); // the daemon also stands in for it
        if (Files.notExists(server)) {
            Files.createFile(
                    server, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
        }
        Path built = StandInNode.BUILT.resolve("mps").resolve(NAME);
        Files.deleteIfExists(program);
        try {
            Files.createLink(program, built); // a file that is still open for writing can't be run
        } catch (IOException | UnsupportedOperationException e) {
            Files.copy(built, program);
        }
    }

    /** Installs it on a node. */
    public static MpsStandIn install(StandInNode node) throws IOException {
        return new MpsStandIn(node, node.folder().resolve(NAME));
    }

    /** Returns whether this process may mount, as the driver has to. */
    public static boolean canMount() throws Exception {
        Process tried = new ProcessBuilder("unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt")
                .redirectErrorStream(true)
                .start();
        return tried.waitFor() == 0;
    }

    /** Unmounts what is mounted below a directory, if a test has failed. */
    public void unmount(Path directory) throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/mounts"))) {
            String point = line.split(" ")[1];
            if (point.startsWith(directory.toString())) {
                new ProcessBuilder("umount", "--lazy", point).start().waitFor();
            }
        }
    }

    /** Lets a server be of a client's user, and fail if that one can't use what the daemon has. */
    public void serve(int user) throws IOException {
        Files.writeString(folder().resolve("user"), String.valueOf(user));
    }

    /** Returns the folder in which the last daemon found libraries. */
    public Path libraries() throws IOException {
        return Path.of(Files.readString(folder().resolve("libraries")).strip());
    }

    /** Returns the running processes of daemons and servers of this node. */
    public List<ProcessHandle> processes() {
        String program = node().resolve(NAME).toString();
        return ProcessHandle.allProcesses()
                .filter(one -> one.info().command().filter(program::equals).isPresent())
                .toList();
    }

    private Path node() {
        return folder().getParent();
    }
}
