// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import static dev.cel.common.types.SimpleType.BOOL;
import static dev.cel.common.types.SimpleType.INT;
import static dev.cel.common.types.SimpleType.STRING;
import static io.dra4j.allocator.cel.Types.IP;

import io.dra4j.rules.Addresses;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.function.Predicate;

/** An IPv4 or IPv6 address in a CEL expression, without a zone and not an IPv4-mapped IPv6 address. */
record CelIpAddress(InetAddress address) {

    static CelIpAddress parse(String text) {
        return Addresses.strict(text)
                .map(CelIpAddress::new)
                .orElseThrow(() -> new IllegalArgumentException(
                        "IP Address \"%s\" parse error during conversion from string".formatted(text)));
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
        return Addresses.text(address);
    }

    static void addTo(Functions functions) {
        functions
                .parser("ip", "string_to_ip", "isIP", "is_ip", IP, CelIpAddress::parse)
                .global("ip.isCanonical", "ip_is_canonical", BOOL, CelIpAddress::canonical, STRING)
                .global("string", "ip_to_string", STRING, a -> a[0].toString(), IP)
                .member("family", "ip_family", INT, a -> of(a).isIpv6() ? 6L : 4L, IP);
        property(functions, "isUnspecified", "ip_is_unspecified", InetAddress::isAnyLocalAddress);
        property(functions, "isLoopback", "ip_is_loopback", InetAddress::isLoopbackAddress);
        property(functions, "isLinkLocalMulticast", "ip_is_link_local_multicast", InetAddress::isMCLinkLocal);
        property(functions, "isLinkLocalUnicast", "ip_is_link_local_unicast", InetAddress::isLinkLocalAddress);
        functions.member("isGlobalUnicast", "ip_is_global_unicast", BOOL, a -> of(a).isGlobalUnicast(), IP);
    }

    private static void property(Functions functions, String name, String id, Predicate<InetAddress> property) {
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

    private static CelIpAddress of(Object[] arguments) {
        return (CelIpAddress) arguments[0];
    }
}
