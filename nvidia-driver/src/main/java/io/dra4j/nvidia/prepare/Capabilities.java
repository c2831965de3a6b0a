// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.error.PrepareException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The device nodes of MIG capabilities: whoever may open one may use what it stands for.
 *
 * <p>The kernel's driver says in procfs which numbers they have. The nodes need not exist on the
 * node: the container's runtime makes its own.
 */
final class Capabilities {

    private static final Pattern MINOR = Pattern.compile("(?m)^DeviceFileMinor: (\\d{1,7})$");
    private static final Pattern MODE = Pattern.compile("(?m)^DeviceFileMode: (\\d{1,4})$");
    private static final Pattern MAJOR = Pattern.compile("^\\s*(\\d{1,5}) nvidia-caps$");

    private final Path proc;

    Capabilities(Path proc) {
        this.proc = proc;
    }

    /**
     * Returns the node of a capability.
     *
     * @param capability its place below the capabilities, {@code gpu0/mig/gi1/access}
     */
    DeviceNode node(String capability) {
        Path file = proc.resolve("driver/nvidia/capabilities").resolve(capability);
        String text = read(file);
        long minor = number(MINOR, text, file);
        int mode = (int) number(MODE, text, file);
        String path = "/dev/nvidia-caps/nvidia-cap" + minor;
        return new DeviceNode(path, null, "c", major(), minor, mode, "r", null, null);
    }

    private long major() {
        Path devices = proc.resolve("devices");
        List<String> lines = read(devices).lines().toList();
        for (String line : lines) {
            Matcher major = MAJOR.matcher(line);
            if (major.matches()) {
                return Long.parseLong(major.group(1));
            }
        }
        throw new PrepareException(
                devices + " names no nvidia-caps: the kernel's driver has no MIG capabilities");
    }

    private static long number(Pattern form, String text, Path file) {
        Matcher found = form.matcher(text);
        if (!found.find()) {
            throw new PrepareException(file + " has no line like \"" + form.pattern() + "\"");
        }
        return Long.parseLong(found.group(1));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new PrepareException(
                    "Can't read " + file + ", which says what MIG capabilities there are", e);
        }
    }
}
