// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

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

    /**
     * An IP address.
     *
     * @param groups its eight groups of 16 bits; those of an IPv4 address are mapped to IPv6
     * @param dotted whether it was written as IPv4
     */
    private record IpAddress(List<Integer> groups, boolean dotted) {
        private static final int GROUPS = 8;
        private static final List<Integer> MAPPED = List.of(0, 0, 0, 0, 0, 0xffff);

        /** Parses an address; leading zeros do not mean octal, and their number is not limited. */
        static Optional<IpAddress> parse(String text) {
            Optional<List<Integer>> ipv4 = quads(text).map(IpAddress::mapped);
            return ipv4.isPresent()
                    ? ipv4.map(groups -> new IpAddress(groups, true))
                    : ipv6(text).map(groups -> new IpAddress(groups, false));
        }

        /** Copies an address of 4 or 16 bytes. */
        static IpAddress of(InetAddress address) {
            byte[] bytes = address.getAddress();
            List<Integer> groups = new ArrayList<>();
            for (int i = 0; i < bytes.length; i += 2) {
                groups.add(Byte.toUnsignedInt(bytes[i]) << Byte.SIZE | Byte.toUnsignedInt(bytes[i + 1]));
            }
            boolean isIpv6 = groups.size() == GROUPS;
            return new IpAddress(isIpv6 ? groups : mapped(groups), !isIpv6);
        }

        private static List<Integer> mapped(List<Integer> lowest) {
            return joined(List.of(MAPPED, lowest));
        }

        /** Returns the two groups of an address in dotted decimal notation. */
        private static Optional<List<Integer>> quads(String text) {
            String[] parts = text.split("\\.", -1);
            if (parts.length != 4) {
                return Optional.empty();
            }
            List<Integer> bytes = new ArrayList<>();
            for (String part : parts) {
                String digits = part.replaceFirst("^0+(?=.)", "");
                if (!digits.matches("[0-9]{1,3}") || Integer.parseInt(digits) > 0xff) {
                    return Optional.empty();
                }
                bytes.add(Integer.valueOf(digits));
            }
            return Optional.of(List.of(bytes.get(0) << 8 | bytes.get(1), bytes.get(2) << 8 | bytes.get(3)));
        }

        /** All groups of an address in hexadecimal numbers, of which "::" stands for zeros. */
        private static Optional<List<Integer>> ipv6(String text) {
            int gap = text.indexOf("::");
            if (gap < 0) {
                return hexGroups(text).filter(all -> all.size() == GROUPS);
            }
            Optional<List<Integer>> before = hexGroups(text.substring(0, gap));
            Optional<List<Integer>> after = hexGroups(text.substring(gap + 2));
            boolean dotsBefore = text.substring(0, gap).contains(".");
            if (before.isEmpty() || after.isEmpty() || dotsBefore) {
                return Optional.empty();
            }
            int zeros = GROUPS - before.get().size() - after.get().size();
            return zeros < 1
                    ? Optional.empty()
                    : Optional.of(joined(List.of(before.get(), Collections.nCopies(zeros, 0), after.get())));
        }

        /** Returns the groups between colons, of which the last may be an IPv4 address. */
        private static Optional<List<Integer>> hexGroups(String text) {
            List<Integer> groups = new ArrayList<>();
            String[] parts = text.isEmpty() ? new String[0] : text.split(":", -1);
            for (int i = 0; i < parts.length; i++) {
                boolean last = i == parts.length - 1;
                Optional<List<Integer>> quads = last ? quads(parts[i]) : Optional.empty();
                Optional<List<Integer>> part = quads.isPresent() ? quads : hexGroup(parts[i]);
                if (part.isEmpty()) {
                    return Optional.empty();
                }
                groups.addAll(part.get());
            }
            return Optional.of(groups);
        }

        private static Optional<List<Integer>> hexGroup(String text) {
            String digits = text.replaceFirst("^0+(?=.)", "");
            return digits.matches("[0-9A-Fa-f]{1,4}")
                    ? Optional.of(List.of(HexFormat.fromHexDigits(digits)))
                    : Optional.empty();
        }

        private static List<Integer> joined(List<List<Integer>> parts) {
            return parts.stream().flatMap(List::stream).toList();
        }

        /** Returns the number of bits of its form: an IPv4-mapped address has those of IPv6. */
        int bitsAsWritten() {
            return dotted ? 32 : 128;
        }

        /** Returns the address with the bytes of its form, except that an IPv4-mapped one becomes IPv4. */
        InetAddress toInetAddress() {
            ByteBuffer bytes = ByteBuffer.allocate(bitsAsWritten() / Byte.SIZE);
            groups.subList(dotted ? MAPPED.size() : 0, GROUPS).forEach(group -> bytes.putShort(group.shortValue()));
            try {
                return InetAddress.getByAddress(bytes.array());
            } catch (UnknownHostException e) {
                throw new IllegalStateException("4 or 16 bytes are an address", e);
            }
        }

        /** Returns whether it is an IPv4-mapped IPv6 address. */
        boolean isMapped() {
            return !dotted && isIpv4();
        }

        boolean isIpv4() {
            return groups.subList(0, MAPPED.size()).equals(MAPPED);
        }

        /** Returns dotted decimal notation, or the form of RFC 5952. */
        @Override
        public String toString() {
            if (isIpv4()) {
                return groups.subList(6, GROUPS).stream()
                        .map(group -> (group >> 8) + "." + (group & 0xff))
                        .collect(Collectors.joining("."));
            }
            int start = 0;
            int length = 0;
            for (int i = 0; i < GROUPS; i++) {
                int zeros = zerosFrom(i);
                if (zeros > length) {
                    start = i;
                    length = zeros;
                }
            }
            return length < 2
                    ? hex(groups)
                    : hex(groups.subList(0, start)) + "::" + hex(groups.subList(start + length, GROUPS));
        }

        private int zerosFrom(int start) {
            int end = start;
            while (end < GROUPS && groups.get(end) == 0) {
                end++;
            }
            return end - start;
        }

        private static String hex(List<Integer> groups) {
            return groups.stream().map(Integer::toHexString).collect(Collectors.joining(":"));
        }
    }
}
