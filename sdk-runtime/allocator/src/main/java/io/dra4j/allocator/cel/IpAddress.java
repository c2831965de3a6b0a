// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import static dev.cel.common.types.SimpleType.BOOL;
import static dev.cel.common.types.SimpleType.INT;
import static dev.cel.common.types.SimpleType.STRING;
import static io.dra4j.allocator.cel.Types.IP;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** An IPv4 or IPv6 address in a CEL expression: without a zone, and no IPv4 address in IPv6. */
record IpAddress(InetAddress address) {
    private static final String OCTET = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
    private static final String IPV4 = OCTET + "(\\." + OCTET + "){3}";
    private static final Pattern FORM =
            Pattern.compile(IPV4 + "|[0-9A-Fa-f:]*:[0-9A-Fa-f:]*(:" + IPV4 + ")?");

    /** The longest run of at least two groups that are zero. */
    private static final Pattern ZEROS = Pattern.compile("(?<![^:])0(:0)+(?![^:])");

    /**
     * @throws IllegalArgumentException if it is no address
     */
    static IpAddress parse(String text) {
        try {
            if (FORM.matcher(text).matches()) {
                InetAddress address = InetAddress.getByName(text);
                if (address instanceof Inet6Address == text.contains(":")) {
                    return new IpAddress(address);
                }
            }
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException(problem(text), e);
        }
        throw new IllegalArgumentException(problem(text));
    }

    private static String problem(String text) {
        return "IP Address \"" + text + "\" parse error during conversion from string";
    }

    boolean isIpv6() {
        return address instanceof Inet6Address;
    }

    private boolean isBroadcast() {
        return address.getHostAddress().equals("255.255.255.255");
    }

    /** The canonical text. */
    @Override
    public String toString() {
        String groups = address.getHostAddress();
        if (!isIpv6()) {
            return groups;
        }
        String longest =
                ZEROS.matcher(groups)
                        .results()
                        .map(match -> match.group())
                        .reduce("", (a, b) -> b.length() > a.length() ? b : a);
        return longest.isEmpty() ? groups : shortened(groups, longest);
    }

    private static String shortened(String groups, String zeros) {
        String padded = ":" + groups + ":";
        int at = padded.indexOf(":" + zeros + ":");
        String before = padded.substring(0, at);
        String after = padded.substring(at + zeros.length() + 2);
        String head = before.startsWith(":") ? before.substring(1) : before;
        String tail = after.endsWith(":") ? after.substring(0, after.length() - 1) : after;
        return head + "::" + tail;
    }

    static void addTo(Functions functions) {
        functions
                .global("ip", "string_to_ip", IP, a -> parse((String) a[0]), STRING)
                .global("isIP", "is_ip", BOOL, IpAddress::isOne, STRING)
                .global("ip.isCanonical", "ip_is_canonical", BOOL, IpAddress::canonical, STRING)
                .global("string", "ip_to_string", STRING, a -> a[0].toString(), IP)
                .member("family", "ip_family", INT, a -> of(a).isIpv6() ? 6L : 4L, IP);
        property(functions, "isUnspecified", "ip_is_unspecified", InetAddress::isAnyLocalAddress);
        property(functions, "isLoopback", "ip_is_loopback", InetAddress::isLoopbackAddress);
        property(
                functions,
                "isLinkLocalMulticast",
                "ip_is_link_local_multicast",
                InetAddress::isMCLinkLocal);
        property(
                functions,
                "isLinkLocalUnicast",
                "ip_is_link_local_unicast",
                InetAddress::isLinkLocalAddress);
        functions.member(
                "isGlobalUnicast", "ip_is_global_unicast", BOOL, a -> of(a).isGlobalUnicast(), IP);
    }

    private static void property(
            Functions functions, String name, String id, Predicate<InetAddress> property) {
        functions.member(name, id, BOOL, a -> property.test(of(a).address), IP);
    }

    private boolean isGlobalUnicast() {
        return !(isBroadcast()
                || address.isAnyLocalAddress()
                || address.isLoopbackAddress()
                || address.isMulticastAddress()
                || address.isLinkLocalAddress());
    }

    private static Object canonical(Object[] arguments) {
        return parse((String) arguments[0]).toString().equals(arguments[0]);
    }

    private static Object isOne(Object[] arguments) {
        return Checks.succeeds(() -> parse((String) arguments[0]));
    }

    private static IpAddress of(Object[] arguments) {
        return (IpAddress) arguments[0];
    }
}
