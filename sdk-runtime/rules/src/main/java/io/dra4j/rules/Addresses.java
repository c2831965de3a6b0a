// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.net.InetAddress;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * IP addresses, alone or with the length of their network's prefix, as {@code networkData.ips} of a
 * device's status has them: {@code 10.9.8.7/24}, {@code 2001:db8::1/64}.
 */
public final class Addresses {
    private static final String RULE = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)";
    private static final int MAPPED_BITS = 96;

    /** Leading zeros of decimal numbers, octal to some readers, and hexadecimal ones too long. */
    private static final Pattern AMBIGUOUS = Pattern.compile("[./]0[0-9]|(^|:)0[0-9]+\\.|[0-9A-Fa-f]{5}");

    private Addresses() {}

    /** An address as it was written, with the length of its prefix. */
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

        /** Returns whether its network has more than IPv4 addresses. */
        boolean isWiderThanItsAddress() {
            return ip.isMapped() && prefix < MAPPED_BITS;
        }

        String canonical() {
            boolean ofMapped = ip.isIpv4() && prefix > 32;
            return ip + "/" + (ofMapped ? prefix - MAPPED_BITS : prefix);
        }
    }

    /**
     * Returns the one text of an address with a prefix that the server accepts; empty if it is none. Leading zeros,
     * upper case, and IPv4 addresses in the form of IPv6 are read, but not written.
     */
    public static Optional<String> canonical(String address) {
        return Network.parse(address).map(Network::canonical);
    }

    /**
     * Returns the canonical text of an address with a prefix if all readers take both for the same.
     * Upper case, zeros that {@code ::} stands for, and IPv4 addresses in the form of IPv6 lose
     * nothing. Leading zeros of decimal numbers are octal to some readers, and a prefix of less
     * than 96 bits of such an IPv4 address has no counterpart: then it is empty.
     */
    public static Optional<String> unambiguous(String address) {
        return AMBIGUOUS.matcher(address).find()
                ? Optional.empty()
                : Network.parse(address)
                        .filter(network -> !network.isWiderThanItsAddress())
                        .map(Network::canonical);
    }

    /** Returns why the server refuses an address, in its words; empty if it accepts it. */
    public static String problem(String address) {
        Optional<String> canonical = canonical(address);
        if (canonical.isEmpty()) {
            return RULE;
        }
        return canonical.get().equals(address) ? "" : "must be in canonical form (\"" + canonical.get() + "\")";
    }

    /**
     * Reads an address without a prefix as CEL does: without leading zeros in decimal numbers, a
     * zone, or an IPv4 address in the form of IPv6.
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
