// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.nvml;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A PCI address in the form of Linux: {@code 0000:17:00.0}. */
public record PciAddress(String text) implements Comparable<PciAddress> {

    private static final Pattern LINUX = Pattern.compile("[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
    private static final Pattern NVML =
            Pattern.compile("0{0,4}([0-9A-Fa-f]{4,8}):([0-9A-Fa-f]{2}):([0-9A-Fa-f]{2})\\.([0-7])");

    /** Checks the form, since addresses become parts of paths. */
    public PciAddress {
        if (!isOne(text)) {
            throw new IllegalArgumentException("Not a PCI address: \"" + text + "\"; expected 0000:17:00.0");
        }
    }

    public static boolean isOne(String text) {
        return LINUX.matcher(text).matches();
    }

    /** Parses NVML's form, which has eight digits of the domain, and capital letters. */
    public static PciAddress ofNvml(String busId) {
        Matcher parts = NVML.matcher(busId.strip());
        if (!parts.matches()) {
            throw new IllegalArgumentException("Not a PCI address of NVML: \"" + busId + "\"");
        }
        String address = "%s:%s:%s.%s";
        return new PciAddress(address.formatted(parts.group(1), parts.group(2), parts.group(3), parts.group(4))
                .toLowerCase(Locale.ROOT));
    }

    @Override
    public int compareTo(PciAddress other) {
        return text.compareTo(other.text);
    }

    @Override
    public String toString() {
        return text;
    }
}
