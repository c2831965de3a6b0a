// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import io.dra4j.api.error.DraException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

/** The file of the hook program in the driver's directory. */
final class HookFile {

    private static final String MODE = "rwxr-xr-x";
    private static final String MODE_OF_DIRECTORY = "rwxr-x---";

    private HookFile() {}

    /** A program to copy. */
    interface Source {
        InputStream open() throws IOException;
    }

    /** Opens our own program for this machine. */
    static InputStream ofJar() throws IOException {
        String machine = System.getProperty("os.arch").replace("amd64", "x86_64");
        String name = "/io/dra4j/nvidia/hook/linux-" + machine + "/nvidia-cdi-hook";
        InputStream found = HookFile.class.getResourceAsStream(name);
        if (found == null) {
            throw new FileNotFoundException(
                    "this jar was built without the hook program for "
                            + machine
                            + "; install NVIDIA's nvidia-cdi-hook in the image, or set"
                            + " --nvidia-cdi-hook-path");
        }
        return found;
    }

    /** Writes the program, unless the file is the same already. */
    static void write(Path file, Source source) {
        Path directory = file.getParent();
        try (InputStream program = source.open()) {
            if (!Files.isDirectory(directory)) {
                Files.createDirectory(
                        directory,
                        PosixFilePermissions.asFileAttribute(
                                PosixFilePermissions.fromString(MODE_OF_DIRECTORY)));
            }
            Path fresh = Files.createTempFile(directory, ".nvidia-cdi-hook", ".new");
            try {
                Files.copy(program, fresh, StandardCopyOption.REPLACE_EXISTING);
                replace(file, fresh);
            } finally {
                Files.deleteIfExists(fresh);
            }
        } catch (IOException e) {
            throw new DraException("Can't copy the hook program to " + file + ": " + e, e);
        }
    }

    private static void replace(Path file, Path fresh) throws IOException {
        Files.setPosixFilePermissions(fresh, PosixFilePermissions.fromString(MODE));
        if (!isSame(file, fresh)) {
            Files.move(fresh, file, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private static boolean isSame(Path file, Path fresh) throws IOException {
        return Files.isRegularFile(file)
                && Files.mismatch(file, fresh) < 0
                && Files.getPosixFilePermissions(file)
                        .equals(PosixFilePermissions.fromString(MODE));
    }
}
