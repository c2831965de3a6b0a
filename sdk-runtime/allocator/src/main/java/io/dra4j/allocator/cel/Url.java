// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import static dev.cel.common.types.SimpleType.STRING;
import static io.dra4j.allocator.cel.Types.STRINGS;
import static io.dra4j.allocator.cel.Types.URL;

import dev.cel.common.types.MapType;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** An absolute URL, or an absolute path, in a CEL expression. */
record Url(URI uri) {
    private static final Pattern AUTHORITY =
            Pattern.compile("(.*@)?(?<host>(?<name>\\[[^\\]]*\\]|[^:\\[\\]]*)(:(?<port>\\d*))?)");

    static Url parse(String text) {
        URI uri = URI.create(text.replace(" ", "%20"));
        if (!uri.isAbsolute() && !text.startsWith("/") || !authority(uri).matches()) {
            throw new IllegalArgumentException("URL parse error during conversion from string: " + text);
        }
        return new Url(uri);
    }

    private static Matcher authority(URI uri) {
        return AUTHORITY.matcher(text(uri.getRawAuthority()));
    }

    private String host() {
        return part("host");
    }

    private String hostName() {
        String host = part("name");
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }

    private String port() {
        return part("port");
    }

    private String part(String name) {
        Matcher authority = authority(uri);
        return authority.matches() ? text(authority.group(name)) : "";
    }

    private Map<String, List<String>> query() {
        Map<String, List<String>> all = new LinkedHashMap<>();
        for (String pair : text(uri.getRawQuery()).split("&")) {
            String[] parts = pair.split("=", 2);
            if (!pair.isEmpty()) {
                all.computeIfAbsent(decoded(parts[0]), key -> new ArrayList<>())
                        .add(parts.length > 1 ? decoded(parts[1]) : "");
            }
        }
        return all;
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    private static String text(@Nullable String text) {
        return text == null ? "" : text;
    }

    static void addTo(Functions functions) {
        functions
                .parser("url", "string_to_url", "isURL", "is_url_string", URL, Url::parse)
                .member("getQuery", "url_get_query", MapType.create(STRING, STRINGS), a -> of(a).query(), URL);
        part(functions, "getScheme", "url_get_scheme", url -> text(url.uri.getScheme()));
        part(functions, "getHost", "url_get_host", Url::host);
        part(functions, "getHostname", "url_get_hostname", Url::hostName);
        part(functions, "getPort", "url_get_port", Url::port);
        part(functions, "getEscapedPath", "url_get_escaped_path", url -> text(url.uri.getRawPath()));
    }

    private static void part(Functions functions, String name, String id, Function<Url, String> part) {
        functions.member(name, id, STRING, a -> part.apply(of(a)), URL);
    }

    private static Url of(Object[] arguments) {
        return (Url) arguments[0];
    }
}
