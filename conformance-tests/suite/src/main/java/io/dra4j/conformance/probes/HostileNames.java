// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.testkit.http.PathSegments;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.RecordedRequest;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Names that mean harm, and where one would see that they did some. */
public final class HostileNames {

    /** The path of a claim without its namespace and its name. */
    private static final Pattern CLAIM =
            Pattern.compile("apis/resource\\.k8s\\.io/[^/]+/namespaces//resourceclaims/(/status)?");

    private static final int NAMESPACE = 4; // behind apis, group, version, "namespaces"
    private static final int NAME = 6;

    private final TestContext context;
    private final String mark;
    private final Path own;
    private final List<String> names;
    private final Set<String> before;
    private final NavigableMap<Integer, List<KubeletClaim>> calls = new TreeMap<>();

    private HostileNames(TestContext context) throws IOException {
        this.context = context;
        mark = "escaped-" + UUID.randomUUID(); // others may look at /tmp, too
        own = RegistrationSocket.of(context).service().getParent();
        names = names(mark);
        before = marked();
    }

    public static HostileNames around(TestContext context) throws IOException {
        return new HostileNames(context);
    }

    private static List<String> names(String mark) throws IOException {
        try (InputStream file = HostileNames.class.getResourceAsStream("hostile-names.yaml")) {
            List<String> listed = List.of(new YAMLMapper().readValue(file, String[].class));
            List<String> lengthy = List.of(mark + "x".repeat(254), mark + "x".repeat(4096), "\u4e2d".repeat(1366));
            return Stream.of(listed, lengthy)
                    .flatMap(List::stream)
                    .map(name -> name.replace("MARK", mark))
                    .toList();
        }
    }

    /** Each name as UID, as namespace and as name of a claim that is otherwise there. */
    public List<KubeletClaim> claims(KubeletClaim real) {
        List<KubeletClaim> claims = new ArrayList<>();
        for (String name : names) {
            claims.add(new KubeletClaim(real.namespace(), real.name(), name));
            claims.add(new KubeletClaim(name, real.name(), mark + "-1-" + claims.size()));
            claims.add(new KubeletClaim(real.namespace(), name, mark + "-2-" + claims.size()));
        }
        return claims;
    }

    /** Files with the mark, but for those in the driver's own directory and in those of CDI. */
    private Set<String> marked() throws IOException {
        Set<String> found = new TreeSet<>();
        try (Stream<Path> all = Files.walk(context.place().root());
                Stream<Path> tmp = Files.list(Path.of("/tmp"))) {
            Stream.concat(all, tmp)
                    .filter(file -> file.getFileName().toString().contains(mark))
                    .filter(file ->
                            !file.startsWith(own) || own.equals(context.place().plugins()))
                    .filter(file -> !context.cdi().folders().contains(file.getParent()))
                    .forEach(file -> found.add(file.toString()));
        }
        return found;
    }

    /** Finds no file that is named like one of them and lies where it should not. */
    public void checkFiles() throws IOException {
        Set<String> now = marked();
        now.removeAll(before);
        try {
            Violation.unless(now.isEmpty())
                    .because(
                            "a hostile UID, name or namespace reached files outside the driver's own directories: %s",
                            now);
        } finally {
            for (String file : now) {
                Files.deleteIfExists(Path.of(file));
            }
        }
    }

    /** From now on the driver may ask for this claim, too. */
    public void calling(KubeletClaim claim) {
        calls.computeIfAbsent(context.proxy().lastNumber(), number -> new ArrayList<>())
                .add(claim);
    }

    /** Finds that a request asks for a claim of a call, if it has to do with the names at all. */
    public void checkPath(RecordedRequest request) {
        boolean ours = segments(request.path()).toString().contains(mark)
                || request.resource().equals("resourceclaims");
        Violation.unless(!ours || isOfOneClaim(request) && !request.watch())
                .because(
                        "a hostile name or namespace altered the API path of a request: %s %s",
                        request.method(), request.path());
    }

    private boolean isOfOneClaim(RecordedRequest request) {
        List<String> path = segments(request.path());
        if (path.size() <= NAME || !CLAIM.matcher(shape(path)).matches()) {
            return false;
        }
        List<KubeletClaim> known = calls.headMap(request.number()).values().stream()
                .flatMap(List::stream)
                .toList();
        return isWhole(path.get(NAMESPACE), known.stream().map(KubeletClaim::namespace))
                && isWhole(path.get(NAME), known.stream().map(KubeletClaim::name));
    }

    /** The path without the segments that hold names. */
    private static String shape(List<String> path) {
        List<String> shape = new ArrayList<>(path);
        shape.set(NAMESPACE, "");
        shape.set(NAME, "");
        return String.join("/", shape);
    }

    /** A name that is cut, or decoded twice, is another than the one that was asked for. */
    private boolean isWhole(String segment, Stream<String> asked) {
        boolean dots = segment.equals(".") || segment.equals("..");
        return !dots && (!segment.contains(mark) || asked.anyMatch(segment::equals));
    }

    private static List<String> segments(String path) {
        try {
            return PathSegments.of(path);
        } catch (IllegalArgumentException e) {
            return List.of(path); // The API server refuses it.
        }
    }
}
