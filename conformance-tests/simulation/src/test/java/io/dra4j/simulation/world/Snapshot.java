// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.world;

import com.fasterxml.jackson.databind.JsonNode;
import io.dra4j.simulation.world.Violation.Invariant;
import io.dra4j.testkit.apiserver.ClusterObjects;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The API server's objects and a driver's files at one moment.
 *
 * @param revision the revision of the last write to any object
 * @param things the texts of objects and files, by name
 */
public record Snapshot(long revision, Map<String, String> things) {

    private static final List<String> RESOURCES = List.of("resourceslices", "resourceclaims", "nodes");

    /**
     * Suffixes of files that restarts change: they remove half-written files and a stopped instance's answers to
     * {@code maintenance}, and reserve disk space again.
     */
    private static final List<String> BY_RESTARTS = List.of(".new", ".tmp", "-answer.json", ".reserve");

    static Snapshot of(ClusterObjects api, NodeFiles files) {
        Map<String, String> things = new TreeMap<>(files.contents());
        for (String resource : RESOURCES) {
            for (JsonNode object : api.list(resource)) {
                things.put(resource + " " + object.at("/metadata/name").asText(), object.toString());
            }
        }
        return new Snapshot(api.revision(), things);
    }

    void requireSame(Snapshot now) {
        TreeSet<String> names = new TreeSet<>(things.keySet());
        names.addAll(now.things.keySet());
        names.removeIf(name -> BY_RESTARTS.stream().anyMatch(name::endsWith));
        for (String name : names) {
            String before = things.getOrDefault(name, "not there");
            String after = now.things.getOrDefault(name, "not there");
            Invariants.require(
                    before.equals(after), Invariant.UNCHANGED, "%s was:\n%s\nand is:\n%s", name, before, after);
        }
        Invariants.require(
                revision == now.revision,
                Invariant.UNCHANGED,
                "objects other than %s were written: %s times",
                RESOURCES,
                now.revision - revision);
    }
}
