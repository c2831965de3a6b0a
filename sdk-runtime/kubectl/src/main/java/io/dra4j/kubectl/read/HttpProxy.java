// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.read;

import java.math.BigInteger;
import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The proxy to an API server: that of the kubeconfig, or else that of the environment, as Go's package httpproxy
 * chooses it.
 */
final class HttpProxy {

    /** An entry of NO_PROXY: a network, or a name or address, perhaps with a port. */
    private static final Pattern ENTRY = Pattern.compile("(.+)/(\\d{1,3})|(?:\\*(?=\\.))?\\[?(.+?)\\]?(?::(\\d+))?");

    private HttpProxy() {}

    /** Returns its URL, with a port; {@code null} for a direct connection. */
    static @Nullable String of(String server, @Nullable String ofCluster, Map<String, String> environment) {
        if (ofCluster != null) {
            return usable("The proxy-url of the kubeconfig", ofCluster);
        }
        URI address = URI.create(server);
        boolean isPlain = "http".equals(address.getScheme());
        String name = isPlain ? "HTTP_PROXY" : "HTTPS_PROXY";
        String proxy = variable(name, environment);
        if (proxy.isEmpty()) {
            return null;
        }
        String host = Objects.requireNonNullElse(address.getHost(), "").replaceAll("[\\[\\]]", "");
        int port = address.getPort() >= 0 ? address.getPort() : isPlain ? 80 : 443;
        boolean isDirect = host.matches("localhost|127\\.[0-9.]+|::1")
                || Arrays.stream(variable("NO_PROXY", environment).split(","))
                        .map(entry -> entry.strip().toLowerCase(Locale.ROOT))
                        .anyMatch(entry -> isOf(entry, host.toLowerCase(Locale.ROOT), port));
        return isDirect ? null : usable(name, proxy.contains("://") ? proxy : "http://" + proxy);
    }

    private static String variable(String name, Map<String, String> environment) {
        String value = environment.getOrDefault(name, "");
        return value.isEmpty() ? environment.getOrDefault(name.toLowerCase(Locale.ROOT), "") : value;
    }

    private static boolean isOf(String entry, String host, int port) {
        Matcher parts = ENTRY.matcher(entry);
        if (entry.equals("*") || entry.equals(host) || !parts.matches()) {
            return !entry.isEmpty();
        }
        String name = parts.group(3);
        if (name == null) {
            byte[] one = address(host);
            byte[] network = address(parts.group(1));
            int rest = 8 * one.length - Integer.parseInt(parts.group(2));
            return one.length > 0
                    && one.length == network.length
                    && new BigInteger(1, one).xor(new BigInteger(1, network)).bitLength() <= rest;
        }
        boolean isPort = parts.group(4) == null || parts.group(4).equals(String.valueOf(port));
        return isPort && (name.startsWith(".") ? host : "." + host).endsWith(name.startsWith(".") ? name : "." + name);
    }

    /** Returns the bytes of an IP address; none for a name, which is not looked up. */
    private static byte[] address(String host) {
        try {
            boolean isAddress = host.matches("[0-9.]+|[0-9a-f.]*:[0-9a-f.:]*");
            return isAddress ? InetAddress.getByName(host).getAddress() : new byte[0];
        } catch (UnknownHostException e) {
            return new byte[0];
        }
    }

    /** The client requires a port, and speaks neither TLS nor SOCKS with proxies. */
    private static String usable(String source, String proxy) {
        if (!proxy.matches("(?is)http://.*")) {
            throw new ReadException(source + " must begin with http://; proxies over TLS or SOCKS are not supported");
        }
        try {
            URI url = new URI(proxy);
            if (url.getHost() == null) {
                throw new ReadException(source + " has no valid host");
            }
            return url.getPort() >= 0
                    ? proxy
                    : "http://" + url.getRawAuthority().replaceFirst(":?$", ":80");
        } catch (URISyntaxException e) { // whose message quotes the URL, which may have a password
            throw new ReadException("%s can't be read: %s".formatted(source, e.getReason()));
        }
    }
}
