// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.net.InetAddress;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * IP addresses, with or without a prefix length. In {@code networkData.ips} of a device's status they have one: {@code
 * 10.9.8.7/24}, {@code 2001:db8::1/64}.
 */
public final class Addresses {
    private static final String RULE = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)";
    private static final int MAPPED_BITS = 96;

    /** Leading zeros of decimal numbers, which some parsers read as octal, and hexadecimal groups that are too long. */
    private static final Pattern AMBIGUOUS = Pattern.compile("[./]0[0-9]|(^|:)0[0-9]+\\.|[0-9A-Fa-f]{5}");

    private Addresses() {}

    /** An address as written, with its prefix length. */
    private record Network(IpAddress ip, int prefix) {

        static Optional<Network> parse(String text) {
            int slash = text.indexOf('/');
            String prefix = text.substring(slash + 1);
            if (slash < 0
                    || !prefix.matches("[0-9]+")
                    || prefix.replaceFirst("^0+", "").length() > 3) {
                return Optional.empty();
            }
            return IpAddress.parse(text.substring(0, slash))
                    .map(ip -> new Network(ip, Integer.parseInt(prefix)))
                    .filter(network -> network.prefix <= network.ip.bitsAsWritten());
        }

        /** Returns whether its network contains more than IPv4 addresses. */
        boolean isWiderThanItsAddress() {
            return ip.isMapped() && prefix < MAPPED_BITS;
        }

        String canonical() {
            boolean ofMapped = ip.isIpv4() && prefix > 32;
            return ip + "/" + (ofMapped ? prefix - MAPPED_BITS : prefix);
        }
    }

    /**
     * Returns the only text of an address with a prefix that the server accepts; empty if it is not an address. Leading
     * zeros, upper case, and IPv4-mapped IPv6 addresses are read, but not written.
     */
    public static Optional<String> canonical(String address) {
        return Network.parse(address).map(Network::canonical);
    }

    /**
     * Returns the canonical text of an address with a prefix if every parser reads both the same way. Upper case, zeros
     * that {@code ::} stands for, and IPv4-mapped IPv6 addresses lose nothing. The result is empty for leading zeros of
     * decimal numbers, which some parsers read as octal, and for an IPv4-mapped address with a prefix of less than 96
     * bits, which has no IPv4 counterpart.
     */
    public static Optional<String> unambiguous(String address) {
        return AMBIGUOUS.matcher(address).find()
                ? Optional.empty()
                : Network.parse(address)
                        .filter(network -> !network.isWiderThanItsAddress())
                        .map(Network::canonical);
    }

    /** Returns why the server rejects an address, in its words; empty if it accepts it. */
    public static String problem(String address) {
        Optional<String> canonical = canonical(address);
        if (canonical.isEmpty()) {
            return RULE;
        }
        return canonical.get().equals(address) ? "" : "must be in canonical form (\"" + canonical.get() + "\")";
    }

    /**
     * Parses an address without a prefix as CEL does. Leading zeros in decimal numbers, zones and IPv4-mapped IPv6
     * addresses are rejected.
     */
    public static Optional<InetAddress> strict(String address) {
        return AMBIGUOUS.matcher(address).find()
                ? Optional.empty()
                : IpAddress.parse(address).filter(ip -> !ip.isMapped()).map(IpAddress::toInetAddress);
    }

    /** Returns the canonical text of an address: four decimal numbers, or the form of RFC 5952. */
    public static String text(InetAddress address) {
        return IpAddress.of(address).toString();
    }
}
