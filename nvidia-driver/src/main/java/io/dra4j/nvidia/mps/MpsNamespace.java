// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.mps;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.install.ProgramCall;
import io.dra4j.nvidia.prepare.ProgramFile;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Our program {@code mps-namespace}, which mounts shared memory and runs daemons with it.
 *
 * @param file its path, to which it is copied at first use
 */
record MpsNamespace(Path file) {

    /** The name of its processes until they become the daemon. */
    static final String NAME = "mps-namespace";

    private static final String SIZE = "50%"; // of the machine's memory

    static MpsNamespace in(Path directory) {
        return new MpsNamespace(directory.resolve(NAME));
    }

    /** Mounts memory at a directory, unless already mounted. */
    void mount(Path directory, Duration timeout) {
        call(timeout, "mount", directory.toString(), SIZE);
    }

    /** Unmounts everything mounted at a directory. */
    void unmount(Path directory, Duration timeout) {
        call(timeout, "unmount", directory.toString());
    }

    /** Labels a directory where SELinux is enforced. */
    void label(Path directory, List<String> selinux, Duration timeout) {
        List<String> arguments = new ArrayList<>(List.of("label", directory.toString()));
        arguments.addAll(selinux);
        call(timeout, arguments.toArray(String[]::new));
    }

    /** Returns the command that runs a program with the memory at a directory as its own. */
    List<String> running(Path memory, List<String> command) {
        List<String> all = new ArrayList<>(List.of(file.toString(), "run", memory.toString()));
        all.addAll(command);
        return all;
    }

    private void call(Duration timeout, String... arguments) {
        ProgramFile.ofJar(file, "build it with a C compiler, without -Dnvidia.hook.skip");
        List<String> command = new ArrayList<>(List.of(file.toString()));
        command.addAll(List.of(arguments));
        String call = NAME + " " + String.join(" ", arguments);
        try {
            ProgramCall ended = ProgramCall.run(new ProcessBuilder(command), "", timeout);
            if (!ended.isSuccess()) {
                throw new DraException("%s failed: %s; the driver has to run as root, in a privileged container"
                        .formatted(call, ProgramCall.shortened(ended.output())));
            }
        } catch (IOException e) {
            throw new DraException("%s can't be started: %s".formatted(call, e.getMessage()), e);
        }
    }
}
