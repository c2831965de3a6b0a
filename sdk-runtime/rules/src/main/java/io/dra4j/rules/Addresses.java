// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.util.Optional;

/**
 * IP addresses with the length of their network's prefix, as {@code networkData.ips} of a device's
 * status has them: {@code 10.9.8.7/24}, {@code 2001:db8::1/64}.
 */
public final class Addresses {
    private static final String RULE =
            "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)";

    private Addresses() {}

    /**
     * Returns the one text of an address that the server accepts; empty if it is none. Leading
     * zeros, upper case, and IPv4 addresses in the form of IPv6 are read, but not written.
     */
    public static Optional<String> canonical(String address) {
        int slash = address.indexOf('/');
        return slash < 0
                ? Optional.empty()
                : IpAddress.parse(address.substring(0, slash))
                        .flatMap(ip -> withPrefix(ip, address.substring(slash + 1)));
    }

    private static Optional<String> withPrefix(IpAddress ip, String prefix) {
        int most = ip.bitsAsWritten();
        if (!prefix.matches("[0-9]+") || prefix.replaceFirst("^0+", "").length() > 3) {
            return Optional.empty();
        }
        int length = Integer.parseInt(prefix);
        if (length > most) {
            return Optional.empty();
        }
        boolean ofMapped = ip.isIpv4() && length > 32;
        return Optional.of(ip + "/" + (ofMapped ? length - 96 : length));
    }

    /** Returns why the server refuses an address, in its words; empty if it accepts it. */
    public static String problem(String address) {
        Optional<String> canonical = canonical(address);
        if (canonical.isEmpty()) {
            return RULE;
        }
        return canonical.get().equals(address)
                ? ""
                : "must be in canonical form (\"" + canonical.get() + "\")";
    }
}
