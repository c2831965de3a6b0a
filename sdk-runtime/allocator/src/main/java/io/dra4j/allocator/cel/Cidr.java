// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import static dev.cel.common.types.SimpleType.BOOL;
import static dev.cel.common.types.SimpleType.INT;
import static dev.cel.common.types.SimpleType.STRING;
import static io.dra4j.allocator.cel.Types.CIDR;
import static io.dra4j.allocator.cel.Types.IP;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.regex.Pattern;

/**
 * An address with a prefix length, in a CEL expression.
 *
 * @param bits the length of the prefix
 */
record Cidr(CelIpAddress ip, int bits) {
    private static final Pattern BITS = Pattern.compile("0|[1-9]\\d{0,2}");

    static Cidr parse(String text) {
        int slash = text.lastIndexOf('/');
        String bits = text.substring(slash + 1);
        if (slash >= 0 && BITS.matcher(bits).matches()) {
            Cidr found = new Cidr(CelIpAddress.parse(text.substring(0, slash)), Integer.parseInt(bits));
            if (found.bits <= found.bytes().length * Byte.SIZE) {
                return found;
            }
        }
        throw new IllegalArgumentException("network address parse error during conversion from string: " + text);
    }

    private byte[] bytes() {
        return ip.address().getAddress();
    }

    private Cidr masked() {
        return new Cidr(masked(ip), bits);
    }

    private CelIpAddress masked(CelIpAddress other) {
        byte[] bytes = other.address().getAddress();
        for (int i = 0; i < bytes.length; i++) {
            int kept = Math.max(0, Math.min(Byte.SIZE, bits - i * Byte.SIZE));
            bytes[i] &= (byte) (0xff00 >> kept);
        }
        try {
            return new CelIpAddress(InetAddress.getByAddress(bytes));
        } catch (UnknownHostException e) {
            throw new IllegalStateException("the number of bytes did not change", e);
        }
    }

    private boolean contains(CelIpAddress other) {
        return ip.isIpv6() == other.isIpv6() && masked(other).equals(masked(ip));
    }

    private boolean contains(Cidr other) {
        return bits <= other.bits && contains(other.ip);
    }

    @Override
    public String toString() {
        return ip + "/" + bits;
    }

    static void addTo(Functions functions) {
        functions
                .parser("cidr", "string_to_cidr", "isCIDR", "is_cidr", CIDR, Cidr::parse)
                .global("string", "cidr_to_string", STRING, a -> a[0].toString(), CIDR)
                .member("ip", "cidr_ip", IP, a -> of(a).ip, CIDR)
                .member("prefixLength", "cidr_prefix_length", INT, a -> (long) of(a).bits, CIDR)
                .member("masked", "cidr_masked", CIDR, a -> of(a).masked(), CIDR)
                .member("containsIP", "cidr_contains_ip_string", BOOL, Cidr::hasIp, CIDR, STRING)
                .member("containsIP", "cidr_contains_ip_ip", BOOL, Cidr::hasIp, CIDR, IP)
                .member("containsCIDR", "cidr_contains_cidr_string", BOOL, Cidr::hasCidr, CIDR, STRING)
                .member("containsCIDR", "cidr_contains_cidr", BOOL, Cidr::hasCidr, CIDR, CIDR);
    }

    private static Object hasIp(Object[] arguments) {
        return of(arguments)
                .contains(arguments[1] instanceof CelIpAddress ip ? ip : CelIpAddress.parse((String) arguments[1]));
    }

    private static Object hasCidr(Object[] arguments) {
        return of(arguments).contains(arguments[1] instanceof Cidr cidr ? cidr : parse((String) arguments[1]));
    }

    private static Cidr of(Object[] arguments) {
        return (Cidr) arguments[0];
    }
}
