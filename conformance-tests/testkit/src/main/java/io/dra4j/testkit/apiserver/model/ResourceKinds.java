// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.model;

import io.dra4j.testkit.apiserver.model.ResourceKind.Trait;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The table of served resources for one Kubernetes release. */
public final class ResourceKinds {
    /** A field label may have the release that it came with, behind an at sign. */
    private static final String TABLE =
            """
            group               | kind                  | plural                 | short | scope      | field labels | traits
                                | Namespace             | namespaces             | ns    | cluster    | status.phase | STATUS
                                | Node                  | nodes                  | no    | cluster    | spec.unschedulable | STATUS STATUS_ON_CREATE
                                | Pod                   | pods                   | po    | namespaced | spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName status.phase status.podIP status.nominatedNodeName | STATUS GENERATION RETURNS_DELETED
                                | Event                 | events                 | ev    | namespaced | reason type involvedObject.kind involvedObject.name involvedObject.namespace involvedObject.uid reportingComponent | CREATE_ON_UPDATE
            coordination.k8s.io | Lease                 | leases                 |       | namespaced |  | CREATE_ON_UPDATE CONDITIONAL_UPDATE
            events.k8s.io       | Event                 | events                 | ev    | namespaced | reason type regarding.kind regarding.name regarding.namespace regarding.uid reportingController | CREATE_ON_UPDATE
            resource.k8s.io     | DeviceClass           | deviceclasses          |       | cluster    |  | GENERATION RETURNS_DELETED
            resource.k8s.io     | ResourceClaim         | resourceclaims         |       | namespaced |  | STATUS APPLY RETURNS_DELETED
            resource.k8s.io     | ResourceClaimTemplate | resourceclaimtemplates |       | namespaced |  | RETURNS_DELETED
            resource.k8s.io     | ResourceSlice         | resourceslices         |       | cluster    | spec.nodeName spec.driver spec.pool.name@1.37 | GENERATION RETURNS_DELETED
            """;

    private final KubernetesVersion version;
    private final List<ResourceKind> kinds;

    public ResourceKinds(KubernetesVersion version) {
        this.version = version;
        kinds = TABLE.lines().skip(1).map(row -> kind(row.split("\\|"), version)).toList();
    }

    private static ResourceKind kind(String[] columns, KubernetesVersion version) {
        boolean namespaced = columns[4].strip().equals("namespaced");
        Set<String> labels = new TreeSet<>(Set.of("metadata.name"));
        if (namespaced) {
            labels.add("metadata.namespace");
        }
        for (String label : words(columns[5])) {
            String[] since = label.split("@");
            if (since.length == 1 || version.atLeast(KubernetesVersion.parse(since[1]))) {
                labels.add(since[0]);
            }
        }
        return new ResourceKind(
                columns[0].strip(),
                "v1",
                columns[1].strip(),
                columns[2].strip(),
                namespaced,
                words(columns[3]),
                labels,
                words(columns[6]).stream().map(Trait::valueOf).collect(Collectors.toSet()));
    }

    private static List<String> words(String column) {
        return column.isBlank() ? List.of() : List.of(column.strip().split(" "));
    }

    public KubernetesVersion version() {
        return version;
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

    public ResourceKind ofObject(String apiVersion, String kindName) {
        return only(
                kind -> kind.apiVersion().equals(apiVersion) && kind.kind().equals(kindName),
                apiVersion + " " + kindName);
    }

    /** The kind of a plural that only one group serves, or of {@code plural.group}. */
    public ResourceKind named(String resource) {
        return only(
                kind -> List.of(kind.plural(), kind.qualifiedResource()).contains(resource),
                resource);
    }

    private ResourceKind only(Predicate<ResourceKind> wanted, String described) {
        String message = "the embedded API server serves no " + described;
        return kinds.stream()
                .filter(wanted)
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(message));
    }

    public ResourceKind namespaces() {
        return named("namespaces");
    }

    /** Groups other than core, each in one version. */
    public Set<String> groups() {
        Set<String> groups = new TreeSet<>(kinds.stream().map(ResourceKind::group).toList());
        groups.remove("");
        return groups;
    }

    public List<ResourceKind> inGroup(String group) {
        return kinds.stream().filter(kind -> kind.group().equals(group)).toList();
    }
}
