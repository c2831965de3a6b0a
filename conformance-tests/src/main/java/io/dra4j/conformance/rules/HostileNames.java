// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.bench.Bench;
import io.dra4j.conformance.bench.Violation;
import io.dra4j.conformance.kubelet.KubeletClaim;
import io.dra4j.conformance.proxy.RecordedRequest;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Names that mean harm, and where one would see that they did some. */
final class HostileNames {

    private static final Pattern CLAIM =
            Pattern.compile(
                    "/apis/resource\\.k8s\\.io/[^/]+/namespaces/([^/]+)/resourceclaims/([^/]+)");

    private final Bench bench;
    private final String mark;
    private final Path own;
    private final List<String> names;
    private final Set<String> before;

    private HostileNames(Bench bench) throws IOException {
        this.bench = bench;
        mark = "escaped-" + UUID.randomUUID(); // others may look at /tmp, too
        own = RegistrationSocket.of(bench).service().getParent();
        names = names(mark);
        before = marked();
    }

    static HostileNames around(Bench bench) throws IOException {
        return new HostileNames(bench);
    }

    private static List<String> names(String mark) {
        return List.of(
                "..",
                "../" + mark,
                "../../" + mark,
                "../../../" + mark,
                "/tmp/" + mark,
                "a/" + mark,
                "a\\..\\" + mark,
                mark + "/../../../nodes/" + mark,
                "../../../nodes/" + mark,
                "%2e%2e%2f" + mark,
                "..%2f..%2f" + mark,
                mark + "?watch=true",
                mark + "#b",
                mark + ";b",
                mark + " b",
                " ",
                mark + "\u0000b",
                "\u0000",
                mark + "\nb",
                mark + "\r\nX-Header: 1",
                "-" + mark,
                mark + "-",
                "$(touch /tmp/" + mark + ")",
                "`touch /tmp/" + mark + "`",
                "${jndi:ldap://127.0.0.1/a}",
                "\"},\"forget\":\"x",
                "\u00e9\u4e2d\ud83d\ude80",
                "\u202egnp.exe",
                "UPPER_case",
                mark + "x".repeat(254),
                mark + "x".repeat(4096),
                "\u4e2d".repeat(1366));
    }

    /** Each name as UID, as namespace and as name of a claim that is otherwise there. */
    List<KubeletClaim> claims(KubeletClaim real) {
        List<KubeletClaim> claims = new ArrayList<>();
        for (String name : names) {
            claims.add(new KubeletClaim(real.namespace(), real.name(), name));
            claims.add(new KubeletClaim(name, real.name(), mark + "-1-" + claims.size()));
            claims.add(new KubeletClaim(real.namespace(), name, mark + "-2-" + claims.size()));
        }
        return claims;
    }

    /** Files with the mark, but for those in the driver's own directory and in that of CDI. */
    private Set<String> marked() throws IOException {
        Set<String> found = new TreeSet<>();
        try (Stream<Path> all = Files.walk(bench.place().root());
                Stream<Path> tmp = Files.list(Path.of("/tmp"))) {
            Stream.concat(all, tmp)
                    .filter(file -> file.getFileName().toString().contains(mark))
                    .filter(file -> !file.startsWith(own) || own.equals(bench.place().plugins()))
                    .filter(file -> !bench.cdi().folder().equals(file.getParent()))
                    .forEach(file -> found.add(file.toString()));
        }
        return found;
    }

    /** Finds no file that is named like one of them and lies where it should not. */
    void checkFiles() throws IOException {
        Set<String> now = marked();
        now.removeAll(before);
        try {
            Violation.unless(
                    now.isEmpty(),
                    "a hostile UID, name or namespace reached files outside the driver's own"
                            + " directories: %s",
                    now);
        } finally {
            for (String file : now) {
                Files.deleteIfExists(Path.of(file));
            }
        }
    }

    /** Finds that a request asks for a claim, if it has to do with the names at all. */
    void checkPath(RecordedRequest request) {
        String path = request.path();
        boolean ours = decoded(path).contains(mark) || request.resource().equals("resourceclaims");
        Violation.unless(
                !ours || isOfOneClaim(path) && !request.watch(),
                "a hostile name or namespace altered the API path of a request: %s %s",
                request.method(),
                path);
    }

    private boolean isOfOneClaim(String path) {
        Matcher claim = CLAIM.matcher(path);
        return claim.matches()
                && isWhole(decoded(claim.group(1)))
                && isWhole(decoded(claim.group(2)));
    }

    /** A name that is cut, at a question mark or so, is another than the one that was asked for. */
    private boolean isWhole(String segment) {
        boolean dots = segment.equals(".") || segment.equals("..");
        return !dots && (!segment.contains(mark) || names.contains(segment));
    }

    private static String decoded(String path) {
        try {
            return URLDecoder.decode(path.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return path;
        }
    }
}
