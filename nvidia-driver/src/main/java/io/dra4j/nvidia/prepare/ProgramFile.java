// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import io.dra4j.api.error.DraException;
import io.dra4j.nvidia.state.FreshFile;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Set;

/** The file of a program in the driver's directory. */
public final class ProgramFile {

    private static final String MODE = "rwxr-xr-x";

    /** The permissions of the directory: other users also run its programs, but can't list it. */
    private static final String MODE_OF_DIRECTORY = "rwxr-x--x";

    private static final int PART = 8192; // bytes

    private ProgramFile() {}

    interface Source {
        InputStream open() throws IOException;
    }

    /**
     * Copies a program of the jar for this machine.
     *
     * @param file the copy; its name is the program's
     * @param otherwise what to do if the jar lacks it
     * @throws DraException if it can't be copied, or the jar lacks it
     */
    public static void ofJar(Path file, String otherwise) {
        write(file, () -> open(file.getFileName().toString(), otherwise));
    }

    private static InputStream open(String program, String otherwise) throws IOException {
        String machine = System.getProperty("os.arch").replace("amd64", "x86_64");
        String name = "/io/dra4j/nvidia/hook/linux-" + machine + "/" + program;
        InputStream found = ProgramFile.class.getResourceAsStream(name);
        if (found == null) {
            throw new FileNotFoundException(
                    "this jar was built without %s for %s; %s".formatted(program, machine, otherwise));
        }
        return found;
    }

    /** Writes the program, unless the file is already the same: then a full or read-only disk does no harm. */
    static void write(Path file, Source source) {
        Path directory = file.getParent();
        try {
            if (!Files.isDirectory(directory)) {
                Files.createDirectory(
                        directory,
                        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(MODE_OF_DIRECTORY)));
            }
            open(directory);
            if (!isSame(file, source)) {
                try (InputStream program = source.open()) {
                    FreshFile.replace(file, program, MODE);
                }
            }
        } catch (IOException e) {
            throw new DraException("Can't copy a program to " + file + ": " + e, e);
        }
    }

    /** Sets the directory's permissions: the runtime creates it closed to others, and the kubelet readable by others. */
    private static void open(Path directory) throws IOException {
        Set<PosixFilePermission> modes = Files.getPosixFilePermissions(directory);
        boolean isOwn = Files.getOwner(directory).equals(Files.getOwner(Path.of("/proc/self")));
        boolean isClosed = isOwn && modes.remove(PosixFilePermission.OTHERS_READ);
        if (modes.add(PosixFilePermission.OTHERS_EXECUTE) || isClosed) {
            Files.setPosixFilePermissions(directory, modes);
        }
    }

    private static boolean isSame(Path file, Source source) throws IOException {
        return Files.isRegularFile(file)
                && Files.getPosixFilePermissions(file).equals(PosixFilePermissions.fromString(MODE))
                && hasContent(file, source);
    }

    /** Compares parts, because the heap has no room for large programs. */
    private static boolean hasContent(Path file, Source source) throws IOException {
        try (InputStream present = Files.newInputStream(file);
                InputStream wanted = source.open()) {
            byte[] next;
            do {
                next = wanted.readNBytes(PART);
                if (!Arrays.equals(next, present.readNBytes(PART))) {
                    return false;
                }
            } while (next.length > 0);
            return true;
        }
    }
}
