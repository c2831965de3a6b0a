// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.model;

import io.dra4j.rules.KubernetesVersion;
import io.dra4j.testkit.apiserver.model.ResourceKind.Trait;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The table of served resources for one Kubernetes release. */
public final class ResourceKinds {
    /**
     * A version, a field label or a trait may be followed by an at sign and the release that introduced it. Kinds
     * without versions are in v1.
     */
    private static final String TABLE = """
            group               | versions | kind                  | plural                 | short | scope      | field labels | traits
                                |          | Namespace             | namespaces             | ns    | cluster    | status.phase | STATUS APPLY
                                |          | Node                  | nodes                  | no    | cluster    | spec.unschedulable | STATUS STATUS_ON_CREATE APPLY
                                |          | Pod                   | pods                   | po    | namespaced | spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName status.phase status.podIP status.nominatedNodeName | STATUS GENERATION RETURNS_DELETED
                                |          | Event                 | events                 | ev    | namespaced | reason type involvedObject.apiVersion involvedObject.fieldPath involvedObject.kind involvedObject.name involvedObject.namespace involvedObject.resourceVersion involvedObject.uid reportingComponent | CREATE_ON_UPDATE APPLY
            coordination.k8s.io |          | Lease                 | leases                 |       | namespaced |  | CREATE_ON_UPDATE CONDITIONAL_UPDATE APPLY
            events.k8s.io       |          | Event                 | events                 | ev    | namespaced | reason type regarding.apiVersion regarding.fieldPath regarding.kind regarding.name regarding.namespace regarding.resourceVersion regarding.uid reportingController | CREATE_ON_UPDATE APPLY
            resource.k8s.io     |          | DeviceClass           | deviceclasses          |       | cluster    | metadata.namespace | GENERATION RETURNS_DELETED APPLY
            resource.k8s.io     | v1@1.37 v1beta2@1.36 v1alpha3 | DeviceTaintRule | devicetaintrules | | cluster | metadata.namespace | STATUS@1.35 GENERATION RETURNS_DELETED APPLY
            resource.k8s.io     |          | ResourceClaim         | resourceclaims         |       | namespaced |  | STATUS APPLY RETURNS_DELETED
            resource.k8s.io     |          | ResourceClaimTemplate | resourceclaimtemplates |       | namespaced |  | RETURNS_DELETED APPLY
            resource.k8s.io     |          | ResourceSlice         | resourceslices         |       | cluster    | spec.nodeName spec.driver spec.pool.name@1.37 | GENERATION RETURNS_DELETED APPLY
            """;

    /** The group that has the events of the core group in a different form. */
    static final String EVENTS = "events.k8s.io";

    private static final List<String> STABLE = List.of("v1");

    private final KubernetesVersion version;
    private final List<ResourceKind> kinds;

    /** The kinds that a cluster serves by default: those in stable versions. */
    public ResourceKinds(KubernetesVersion version) {
        this(version, false);
    }

    /**
     * @param preReleases whether alpha and beta versions are also served
     */
    public ResourceKinds(KubernetesVersion version, boolean preReleases) {
        this.version = version;
        kinds = TABLE.lines()
                .skip(1)
                .flatMap(row -> kind(row.split("\\|"), preReleases).stream())
                .toList();
    }

    private Optional<ResourceKind> kind(String[] columns, boolean preReleases) {
        List<String> versions = columns[1].isBlank() ? STABLE : known(columns[1]);
        List<String> served = versions.stream()
                .filter(one -> preReleases || STABLE.contains(one))
                .toList();
        if (served.isEmpty()) {
            return Optional.empty();
        }
        boolean namespaced = columns[5].strip().equals("namespaced");
        Set<String> labels = new TreeSet<>(known(columns[6]));
        labels.add("metadata.name");
        if (namespaced) {
            labels.add("metadata.namespace");
        }
        return Optional.of(new ResourceKind(
                columns[0].strip(),
                served.get(0),
                served,
                columns[2].strip(),
                columns[3].strip(),
                namespaced,
                known(columns[4]),
                labels,
                known(columns[7]).stream().map(Trait::valueOf).collect(Collectors.toSet())));
    }

    /** The words of a column that the release knows. */
    private List<String> known(String column) {
        List<String> known = new ArrayList<>();
        for (String word : words(column)) {
            String[] since = word.split("@");
            if (since.length == 1 || version.atLeast(KubernetesVersion.parse(since[1]))) {
                known.add(since[0]);
            }
        }
        return known;
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

    /** The kind of a plural that a version of a group serves. */
    public Optional<ResourceKind> find(String group, String groupVersion, String plural) {
        return inGroup(group, groupVersion).stream()
                .filter(kind -> kind.plural().equals(plural))
                .findFirst();
    }

    /** The kind in the version in which its objects are stored. */
    public ResourceKind stored(ResourceKind kind) {
        return kind.group().equals(EVENTS) ? named(kind.plural()) : kind;
    }

    /** The kind that another release has under the same name; none if this one does not serve it. */
    public Optional<ResourceKind> like(ResourceKind other) {
        return kinds.stream()
                .filter(kind -> kind.qualifiedKind().equals(other.qualifiedKind()))
                .findFirst();
    }

    public ResourceKind ofObject(String apiVersion, String kindName) {
        return only(
                kind -> kind.kind().equals(kindName)
                        && kind.versions().stream()
                                .anyMatch(v -> kind.in(v).apiVersion().equals(apiVersion)),
                apiVersion + " " + kindName);
    }

    /** The kind of a plural that only one group serves, or of {@code plural.group}. */
    public ResourceKind named(String resource) {
        return only(kind -> List.of(kind.plural(), kind.qualifiedResource()).contains(resource), resource);
    }

    private ResourceKind only(Predicate<ResourceKind> wanted, String described) {
        String message = "the embedded API server serves no " + described;
        return kinds.stream().filter(wanted).findFirst().orElseThrow(() -> new IllegalArgumentException(message));
    }

    public ResourceKind namespaces() {
        return named("namespaces");
    }

    /** Groups other than core. */
    public Set<String> groups() {
        Set<String> groups =
                new TreeSet<>(kinds.stream().map(ResourceKind::group).toList());
        groups.remove("");
        return groups;
    }

    /** The versions that a group is served in, the preferred one first; none for an unknown group. */
    public List<String> versions(String group) {
        return kinds.stream()
                .filter(kind -> kind.group().equals(group))
                .flatMap(kind -> kind.versions().stream())
                .distinct()
                .sorted(Comparator.comparing(ResourceKinds::maturity))
                .toList();
    }

    /** The sort key of a version: stable before beta before alpha. */
    private static String maturity(String groupVersion) {
        return STABLE.contains(groupVersion) ? "" : groupVersion.replace("v1beta", "a");
    }

    public List<ResourceKind> inGroup(String group, String groupVersion) {
        return kinds.stream()
                .filter(kind -> kind.group().equals(group))
                .filter(kind -> kind.versions().contains(groupVersion))
                .toList();
    }
}
