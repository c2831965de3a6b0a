// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.conformance.claims.Allotment;
import io.dra4j.testkit.cluster.ApiObjects;
import io.dra4j.testkit.kubelet.KubeletClaim;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * The claims of a test context: created with an allocation, and deleted after each rule. Thread-safe.
 *
 * <p>They are in the run's own namespace, and no other claim is ever touched.
 */
public final class Claims {

    private final String driver;
    private final ApiObjects cluster;
    private final Devices devices;
    private final String namespace;
    private final List<KubeletClaim> made = new ArrayList<>(); // guarded by this
    private int names; // guarded by this

    Claims(String driver, ApiObjects cluster, Devices devices, String namespace) {
        this.driver = driver;
        this.cluster = cluster;
        this.devices = devices;
        this.namespace = namespace;
    }

    /** Begins a claim with a name that no other has had. */
    public synchronized ClaimDraft draft() {
        return draft("claim-" + ++names);
    }

    public ClaimDraft draft(String name) {
        return devices.areShaped()
                ? new ShapedDraft(namespace, name, driver, devices::usable)
                : new ClaimDraft(namespace, name, driver);
    }

    /** Creates a claim that got these devices, of one request if claims have no particular shape. */
    public KubeletClaim allocate(PublishedDevice... devices) {
        return allocate(List.of(devices));
    }

    public KubeletClaim allocate(List<PublishedDevice> devices) {
        return create(draft().request("r0", devices));
    }

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

    public void deleteObject(KubeletClaim claim) {
        cluster.delete(path(claim));
    }

    /** Deallocates a claim, as a controller does when no pod uses it. */
    public void deallocate(KubeletClaim claim) {
        ObjectNode object = object(claim).deepCopy();
        object.putObject("status");
        cluster.replace(path(claim) + "/status", object);
    }

    /** The object of a claim that was made here, if it exists and is allocated. */
    Optional<JsonNode> find(KubeletClaim claim) {
        boolean known;
        synchronized (this) {
            known = made.contains(claim);
        }
        return (known ? cluster.find(path(claim)) : Optional.<JsonNode>empty())
                .filter(object -> object.at("/metadata/uid").asText().equals(claim.uid()))
                .filter(object -> object.at("/status").has("allocation"));
    }

    public JsonNode object(KubeletClaim claim) {
        return cluster.find(path(claim)).orElseThrow(() -> new IllegalStateException(claim + " has no object"));
    }

    private String path() {
        return ApiObjects.RESOURCE + "/namespaces/" + namespace + "/resourceclaims";
    }

    public String path(KubeletClaim claim) {
        return path() + "/" + claim.name();
    }

    /** The claims that were made since the last cleanup. */
    synchronized List<KubeletClaim> takeMade() {
        List<KubeletClaim> all = List.copyOf(made);
        made.clear();
        return all;
    }

    /**
     * A claim of the shape that the settings give: its template's requests, constraints and
     * configurations, with what a scheduler allocates to it.
     *
     * <p>A rule names the device that the claim should get, and gets the others of its allotment as well. It cannot
     * check what the shape does not allow.
     */
    private static final class ShapedDraft extends ClaimDraft {

        private static final String CLAIM = "FromClaim";

        private final Supplier<List<PublishedDevice>> usable;
        private final Set<String> shaped = new LinkedHashSet<>();

        ShapedDraft(String namespace, String name, String driver, Supplier<List<PublishedDevice>> usable) {
            super(namespace, name, driver);
            this.usable = usable;
        }

        @Override
        public ClaimDraft request(String name, List<PublishedDevice> devices) {
            Untested.unless(
                    shaped.isEmpty(),
                    "needs a claim that defines two requests; claims have the shape in driver.claims");
            List<PublishedDevice> units =
                    devices.stream().filter(d -> d.allotment() != null).toList();
            List<PublishedDevice> absent =
                    devices.stream().filter(PublishedDevice::isAbsent).toList();
            Untested.unless(
                    units.size() + absent.size() == devices.size(),
                    "needs a claim with the devices %s; claims of the shape in driver.claims get others",
                    devices);
            Untested.unless(
                    units.size() <= 1,
                    "needs a claim with the devices of %d claims of the shape in driver.claims",
                    units.size());
            Allotment allotment = Stream.concat(units.stream(), usable.get().stream())
                    .findFirst()
                    .map(PublishedDevice::allotment)
                    .orElse(null);
            if (allotment == null) {
                return super.request(name, devices); // nothing is published that it could get
            }
            write(allotment);
            putIn(absent, !units.isEmpty());
            return this;
        }

        private void write(Allotment allotment) {
            ObjectNode spec = spec();
            for (JsonNode request : allotment.spec().path("requests")) {
                requests.add(request.deepCopy());
                shaped.add(request.path("name").asText());
            }
            Stream.of("constraints", "config")
                    .filter(allotment.spec()::has)
                    .forEach(field ->
                            spec.set(field, allotment.spec().path(field).deepCopy()));
            for (JsonNode result : allotment.results()) {
                results.add(fresh(result));
            }
            allotment.allocation().at("/devices/config").forEach(config -> configs.add(config.deepCopy()));
        }

        private static ObjectNode fresh(JsonNode result) {
            ObjectNode own = result.deepCopy();
            return own.has("shareID") ? own.put("shareID", UUID.randomUUID().toString()) : own;
        }

        /** Nonexistent devices replace some that the claim would get. */
        private void putIn(List<PublishedDevice> absent, boolean keepsOne) {
            int all = results.size();
            for (int i = 0; i < absent.size(); i++) {
                int place = keepsOne ? all - 1 - i : i;
                ObjectNode result = place < (keepsOne ? 1 : 0) || place >= all
                        ? results.addObject().setAll(fresh(results.get(0)))
                        : (ObjectNode) results.get(place);
                result.put("pool", absent.get(i).pool())
                        .put("device", absent.get(i).name());
            }
        }

        @Override
        public ClaimDraft adminRequest(String name, PublishedDevice device) {
            throw new Untested("needs admin access to a device; claims have the shape in driver.claims");
        }

        @Override
        public ClaimDraft alternatives(String name, List<String> subrequests, String chosen, PublishedDevice device) {
            throw new Untested("needs a claim that defines alternatives; claims have the shape in driver.claims");
        }

        @Override
        public ObjectNode rawResult(String request, String ofDriver, String pool, String device) {
            Untested.unless(
                    !ofDriver.equals(driver),
                    "needs a claim with only device %s/%s; claims have the shape in driver.claims",
                    pool,
                    device);
            return super.rawResult(request, ofDriver, pool, device);
        }

        /** A rule's configuration of this driver replaces those in the claim. */
        @Override
        public ClaimDraft config(String source, String ofDriver, JsonNode parameters, String... forRequests) {
            if (ofDriver.equals(driver)) {
                removeShaped();
            }
            List<String> names = new ArrayList<>();
            List.of(forRequests).forEach(name -> names.addAll(requests(name)));
            return super.config(source, ofDriver, parameters, names.toArray(String[]::new));
        }

        private List<String> requests(String name) {
            boolean known = requests.valueStream()
                    .anyMatch(request -> request.path("name").asText().equals(name));
            return known ? List.of(name) : List.copyOf(shaped);
        }

        private boolean removed;

        private void removeShaped() {
            if (removed) {
                return;
            }
            removed = true;
            configs.removeIf(config -> config.path("source").asText().equals(CLAIM)
                    && config.at("/opaque/driver").asText().equals(driver));
            spec().remove("config");
        }
    }
}
