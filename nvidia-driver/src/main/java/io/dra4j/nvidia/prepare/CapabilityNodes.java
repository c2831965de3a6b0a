// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.prepare;

import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.error.PrepareException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The device nodes of MIG capabilities: a process that can open one can use the instance.
 *
 * <p>The kernel driver lists their numbers in procfs. The container runtime creates its own nodes, except
 * in a user namespace: there it mounts those of the host, which have to exist.
 */
record CapabilityNodes(Path proc) {

    private static final Pattern MINOR = Pattern.compile("(?m)^DeviceFileMinor: (\\d{1,7})$");
    private static final Pattern MODE = Pattern.compile("(?m)^DeviceFileMode: (\\d{1,4})$");
    private static final Pattern MAJOR = Pattern.compile("(?m)^ *(\\d{1,5}) nvidia-caps$");

    /** Linux uses 12 bits for a major number and 20 for a minor one. */
    private static final long MOST_MAJOR = (1 << 12) - 1;

    private static final long MOST_MINOR = (1 << 20) - 1;
    private static final long MOST_MODE = 0777;

    /**
     * Returns the node of a capability.
     *
     * @param capability its path below the capabilities, {@code gpu0/mig/gi1/access}
     */
    DeviceNode node(String capability) {
        Path file = proc.resolve("driver/nvidia/capabilities").resolve(capability);
        String text = read(file);
        long minor = number(MINOR, text, file, MOST_MINOR);
        int mode = (int) number(MODE, text, file, MOST_MODE);
        String path = "/dev/nvidia-caps/nvidia-cap" + minor;
        return DeviceNode.builder(path)
                .type("c")
                .major(major())
                .minor(minor)
                .fileMode(mode)
                .permissions("r")
                .build();
    }

    long major() {
        Path devices = proc.resolve("devices");
        String text = read(devices);
        if (!MAJOR.matcher(text).find()) {
            throw new PrepareException(devices + " has no nvidia-caps: the kernel's driver has no MIG capabilities");
        }
        return number(MAJOR, text, devices, MOST_MAJOR);
    }

    private static long number(Pattern form, String text, Path file, long most) {
        Matcher found = form.matcher(text);
        if (!found.find()) {
            throw new PrepareException(file + " has no line like \"" + form.pattern() + "\"");
        }
        long number = Long.parseLong(found.group(1));
        if (number > most) {
            throw new PrepareException("%s has the line \"%s\": the number is above %d"
                    .formatted(file, found.group().strip(), most));
        }
        return number;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new PrepareException("Can't read " + file + ", which has the MIG capabilities", e);
        }
    }
}
