// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.cluster.Cluster;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The claims of a test context: made with an allocation, and cleared away after each rule. Thread-safe.
 *
 * <p>They live in a namespace of the run's own, and no other claim is ever touched.
 */
public final class Claims {

    private final String driver;
    private final Cluster cluster;
    private final Devices devices;
    private final String namespace;
    private final List<KubeletClaim> made = new ArrayList<>(); // guarded by this
    private int names; // guarded by this

    Claims(String driver, Cluster cluster, Devices devices, String namespace) {
        this.driver = driver;
        this.cluster = cluster;
        this.devices = devices;
        this.namespace = namespace;
    }

    /** Begins a claim with a name that none has had. */
    public synchronized ClaimDraft draft() {
        return draft("claim-" + ++names);
    }

    /** Begins a claim with a name. */
    public ClaimDraft draft(String name) {
        return devices.areShaped()
                ? new ShapedDraft(namespace, name, driver, devices::usable)
                : new ClaimDraft(namespace, name, driver);
    }

    /** Creates a claim that got these devices, of one request if claims have no certain shape. */
    public KubeletClaim allocate(PublishedDevice... devices) {
        return allocate(List.of(devices));
    }

    /** Creates a claim that got these devices, of one request if claims have no certain shape. */
    public KubeletClaim allocate(List<PublishedDevice> devices) {
        return create(draft().request("r0", devices));
    }

    /** Creates a claim with its allocation. */
    public KubeletClaim create(ClaimDraft draft) {
        JsonNode created = cluster.create(path(), draft.unallocated());
        KubeletClaim claim = known(created);
        ObjectNode allocated = created.deepCopy();
        allocated.set("status", draft.status());
        cluster.replace(path(claim) + "/status", allocated);
        return claim;
    }

    /** Creates a claim that no scheduler has seen. */
    public KubeletClaim createUnallocated(ClaimDraft draft) {
        return known(cluster.create(path(), draft.unallocated()));
    }

    private synchronized KubeletClaim known(JsonNode object) {
        KubeletClaim claim = new KubeletClaim(
                namespace,
                object.at("/metadata/name").asText(),
                object.at("/metadata/uid").asText());
        made.add(claim);
        return claim;
    }

    /** Lets a claim that has no object be unprepared in the end. */
    public synchronized KubeletClaim track(KubeletClaim claim) {
        made.add(claim);
        return claim;
    }

    /** Deletes a claim's object. */
    public void deleteObject(KubeletClaim claim) {
        cluster.delete(path(claim));
    }

    /** Takes a claim's allocation away, as a controller does when no pod uses it. */
    public void deallocate(KubeletClaim claim) {
        ObjectNode object = object(claim).deepCopy();
        object.putObject("status");
        cluster.replace(path(claim) + "/status", object);
    }

    /** The object of a claim that was made here, if it is there and allocated. */
    Optional<JsonNode> find(KubeletClaim claim) {
        boolean known;
        synchronized (this) {
            known = made.contains(claim);
        }
        return (known ? cluster.find(path(claim)) : Optional.<JsonNode>empty())
                .filter(object -> object.at("/metadata/uid").asText().equals(claim.uid()))
                .filter(object -> object.at("/status").has("allocation"));
    }

    /** The claim's object as it is now. */
    public JsonNode object(KubeletClaim claim) {
        return cluster.find(path(claim)).orElseThrow(() -> new IllegalStateException(claim + " has no object"));
    }

    private String path() {
        return Cluster.RESOURCE + "/namespaces/" + namespace + "/resourceclaims";
    }

    /** Returns the path of a claim at the API server. */
    public String path(KubeletClaim claim) {
        return path() + "/" + claim.name();
    }

    /** Those that were made since the last clearing. */
    synchronized List<KubeletClaim> takeMade() {
        List<KubeletClaim> all = List.copyOf(made);
        made.clear();
        return all;
    }
}
