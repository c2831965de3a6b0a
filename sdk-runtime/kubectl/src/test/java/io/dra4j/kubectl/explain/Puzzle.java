// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.manifests.ManifestObjects;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine;

/**
 * A small cluster in which something is in the way, and the text that explains it.
 *
 * <p>Comments at the start of {@code cluster.yaml} are settings: {@code # explain: pod/train} has
 * the arguments, {@code # version: 1.35} the release, {@code # gate: NAME} a gate that is on,
 * {@code # delete: NAME} a claim that somebody has deleted.
 */
record Puzzle(Path folder) {
    static final Path ALL = Path.of("src/test/resources/io/dra4j/kubectl/explain/puzzles");

    private static final Instant NIGHT = Instant.parse("2026-11-24T03:00:00Z");

    /** The time at which puzzles are explained; it stands still, however slow the machine is. */
    static final Instant NOW = NIGHT.plus(Duration.ofHours(3));

    /** The text that the command printed, and its exit status. */
    record Answer(int status, String text) {}

    static List<Puzzle> all() {
        try (Stream<Path> folders = Files.list(ALL)) {
            return folders.sorted().map(Puzzle::new).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static Puzzle named(String name) {
        return new Puzzle(ALL.resolve(name));
    }

    Path expected() {
        return folder.resolve("expected.txt");
    }

    /** Explains it over HTTP, with more options. */
    Answer explain(Path kubeconfig, String... options) throws IOException {
        return explain(kubeconfig, InstantSource.fixed(NOW), options);
    }

    /** Explains it over HTTP while the time of a clock passes. */
    Answer explain(Path kubeconfig, InstantSource clock, String... options) throws IOException {
        String cluster = Files.readString(folder.resolve("cluster.yaml"));
        EmbeddedApiServer.Builder builder =
                EmbeddedApiServer.builder().clock(() -> NIGHT).preReleaseVersions();
        settings(cluster, "version").forEach(one -> builder.version(KubernetesVersion.parse(one)));
        settings(cluster, "gate").forEach(one -> builder.featureGate(FeatureGate.parse(one), true));
        try (EmbeddedApiServer server = builder.start()) {
            ManifestObjects.putText(cluster, server.store());
            settings(cluster, "delete").forEach(one -> server.store().delete("resourceclaims", "default", one));
            server.writeKubeconfig(kubeconfig);
            List<String> args = new ArrayList<>(List.of("--kubeconfig", kubeconfig.toString()));
            args.addAll(List.of(options));
            for (String one : settings(cluster, "explain").get(0).split(" ")) {
                args.add(one.replace("FOLDER", folder.toString()));
            }
            return run(args, clock);
        }
    }

    private static List<String> settings(String cluster, String name) {
        String start = "# " + name + ": ";
        return cluster.lines()
                .filter(line -> line.startsWith(start))
                .map(line -> line.substring(start.length()))
                .toList();
    }

    static Answer run(List<String> args) {
        return run(args, InstantSource.fixed(NOW));
    }

    private static Answer run(List<String> args, InstantSource clock) {
        StringWriter out = new StringWriter();
        CommandLine command = new CommandLine(new ExplainMain(clock));
        command.setOut(new PrintWriter(out)).setErr(new PrintWriter(out));
        command.setCaseInsensitiveEnumValuesAllowed(true);
        int status = command.execute(args.toArray(String[]::new));
        return new Answer(status, out.toString());
    }

    @Override
    public String toString() {
        return folder.getFileName().toString();
    }
}
