// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import java.util.ArrayList;
import java.util.List;

/**
 * IP addresses as the API wants them: IPv6 in lower case, its longest run of zeros left out.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc5952">RFC 5952</a>
 */
final class CanonicalIp {

    private static final int IPV4_BYTES = 4;

    private CanonicalIp() {}

    static String of(byte[] address) {
        List<String> parts = new ArrayList<>();
        if (address.length == IPV4_BYTES) {
            for (byte part : address) {
                parts.add(Integer.toString(Byte.toUnsignedInt(part)));
            }
            return String.join(".", parts);
        }
        for (int i = 0; i < address.length; i += 2) {
            parts.add(
                    Integer.toHexString(
                            Byte.toUnsignedInt(address[i]) << Byte.SIZE
                                    | Byte.toUnsignedInt(address[i + 1])));
        }
        return withoutZeros(parts);
    }

    private static String withoutZeros(List<String> groups) {
        int from = 0;
        int longest = 1; // a single zero stays
        for (int start = 0; start < groups.size(); start++) {
            int end = start;
            while (end < groups.size() && groups.get(end).equals("0")) {
                end++;
            }
            if (end - start > longest) {
                from = start;
                longest = end - start;
            }
        }
        return longest == 1
                ? String.join(":", groups)
                : String.join(":", groups.subList(0, from))
                        + "::"
                        + String.join(":", groups.subList(from + longest, groups.size()));
    }
}
