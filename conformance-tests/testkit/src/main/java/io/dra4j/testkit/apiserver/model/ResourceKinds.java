// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.model;

import static io.dra4j.testkit.apiserver.model.ResourceKind.Trait.APPLY;
import static io.dra4j.testkit.apiserver.model.ResourceKind.Trait.CONDITIONAL_UPDATE;
import static io.dra4j.testkit.apiserver.model.ResourceKind.Trait.CREATE_ON_UPDATE;
import static io.dra4j.testkit.apiserver.model.ResourceKind.Trait.GENERATION;
import static io.dra4j.testkit.apiserver.model.ResourceKind.Trait.RETURNS_DELETED;
import static io.dra4j.testkit.apiserver.model.ResourceKind.Trait.STATUS;
import static io.dra4j.testkit.apiserver.model.ResourceKind.Trait.STATUS_ON_CREATE;

import io.dra4j.testkit.apiserver.model.ResourceKind.Trait;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** The table of served resources for one Kubernetes release. */
public final class ResourceKinds {
    private static final String RESOURCE = "resource.k8s.io";

    private final List<ResourceKind> kinds = new ArrayList<>();

    public ResourceKinds(KubernetesVersion version) {
        core();
        cluster("coordination.k8s.io", "Lease", "leases")
                .labels("metadata.namespace")
                .namespaced()
                .traits(CREATE_ON_UPDATE, CONDITIONAL_UPDATE)
                .add();
        cluster("events.k8s.io", "Event", "events")
                .namespaced()
                .shortNames("ev")
                .labels(
                        "reason",
                        "type",
                        "regarding.kind",
                        "regarding.name",
                        "regarding.namespace",
                        "regarding.uid",
                        "reportingController")
                .traits(CREATE_ON_UPDATE)
                .add();
        cluster(RESOURCE, "DeviceClass", "deviceclasses").traits(GENERATION, RETURNS_DELETED).add();
        cluster(RESOURCE, "ResourceClaim", "resourceclaims")
                .namespaced()
                .traits(STATUS, APPLY, RETURNS_DELETED)
                .add();
        cluster(RESOURCE, "ResourceClaimTemplate", "resourceclaimtemplates")
                .namespaced()
                .traits(RETURNS_DELETED)
                .add();
        Row slices =
                cluster(RESOURCE, "ResourceSlice", "resourceslices")
                        .labels("spec.nodeName", "spec.driver")
                        .traits(GENERATION, RETURNS_DELETED);
        if (version.atLeast(KubernetesVersion.V1_37)) {
            slices.labels("spec.pool.name");
        }
        slices.add();
    }

    private void core() {
        cluster("", "Namespace", "namespaces")
                .shortNames("ns")
                .labels("status.phase")
                .traits(STATUS)
                .add();
        cluster("", "Node", "nodes")
                .shortNames("no")
                .labels("spec.unschedulable")
                .traits(STATUS, STATUS_ON_CREATE)
                .add();
        cluster("", "Pod", "pods")
                .shortNames("po")
                .namespaced()
                .labels(
                        "spec.nodeName",
                        "spec.restartPolicy",
                        "spec.schedulerName",
                        "spec.serviceAccountName",
                        "status.phase",
                        "status.podIP",
                        "status.nominatedNodeName")
                .traits(STATUS, GENERATION, RETURNS_DELETED)
                .add();
        cluster("", "Event", "events")
                .shortNames("ev")
                .namespaced()
                .labels(
                        "reason",
                        "type",
                        "involvedObject.kind",
                        "involvedObject.name",
                        "involvedObject.namespace",
                        "involvedObject.uid",
                        "reportingComponent")
                .traits(CREATE_ON_UPDATE)
                .add();
    }

    private Row cluster(String group, String kind, String plural) {
        return new Row(group, kind, plural);
    }

    public List<ResourceKind> all() {
        return kinds;
    }

    public Optional<ResourceKind> find(String group, String version, String plural) {
        return kinds.stream()
                .filter(kind -> kind.group().equals(group) && kind.version().equals(version))
                .filter(kind -> kind.plural().equals(plural))
                .findFirst();
    }

    public Optional<ResourceKind> ofObject(String apiVersion, String kindName) {
        return kinds.stream()
                .filter(
                        kind ->
                                kind.apiVersion().equals(apiVersion)
                                        && kind.kind().equals(kindName))
                .findFirst();
    }

    /** The kind of a plural that only one group serves, or of {@code plural.group}. */
    public ResourceKind named(String resource) {
        return kinds.stream()
                .filter(
                        kind ->
                                kind.plural().equals(resource)
                                        || kind.qualifiedResource().equals(resource))
                .findFirst()
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        "the embedded API server serves no " + resource));
    }

    public ResourceKind namespaces() {
        return named("namespaces");
    }

    /** Groups other than core, each in one version. */
    public Set<String> groups() {
        Set<String> groups = new TreeSet<>();
        kinds.stream()
                .map(ResourceKind::group)
                .filter(group -> !group.isEmpty())
                .forEach(groups::add);
        return groups;
    }

    public List<ResourceKind> inGroup(String group) {
        return kinds.stream().filter(kind -> kind.group().equals(group)).toList();
    }

    /** One row while it is being written. */
    private final class Row {
        private final String group;
        private final String kind;
        private final String plural;
        private boolean namespaced;
        private List<String> shortNames = List.of();
        private final Set<String> labels = new TreeSet<>(Set.of("metadata.name"));
        private Set<Trait> traits = Set.of();

        Row(String group, String kind, String plural) {
            this.group = group;
            this.kind = kind;
            this.plural = plural;
        }

        Row namespaced() {
            namespaced = true;
            return labels("metadata.namespace");
        }

        Row shortNames(String... names) {
            shortNames = List.of(names);
            return this;
        }

        Row labels(String... names) {
            labels.addAll(Arrays.asList(names));
            return this;
        }

        Row traits(Trait... kindTraits) {
            traits = Set.of(kindTraits);
            return this;
        }

        void add() {
            kinds.add(
                    new ResourceKind(
                            group, "v1", kind, plural, namespaced, shortNames, labels, traits));
        }
    }
}
