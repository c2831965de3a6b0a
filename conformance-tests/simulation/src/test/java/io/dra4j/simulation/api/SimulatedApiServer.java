// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.api;

import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.simulation.schedule.Simulation;
import io.dra4j.testkit.apiserver.ClusterObjects;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.apiserver.InMemoryApiServer;
import io.dra4j.testkit.apiserver.http.InMemoryApi;
import java.net.http.HttpRequest;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The cluster's API server, with the code of the test kit's: drivers use it through {@link SimulatedHttpClient}, the
 * world through {@link #objects}, without latency and faults.
 *
 * <p>Create and use it on threads of one simulation.
 */
public final class SimulatedApiServer {

    /** The features that a release disables by default, or that an administrator may disable. */
    public static final Set<FeatureGate> FEATURES = EnumSet.of(
            FeatureGate.DRA_PARTITIONABLE_DEVICES, FeatureGate.DRA_DEVICE_TAINTS, FeatureGate.DRA_CONSUMABLE_CAPACITY);

    /** The annotation of objects that drivers do not expect, because they are created late, or by others. */
    public static final String UNEXPECTED = "/metadata/annotations/unexpected";

    private static final List<KubernetesVersion> RELEASES =
            List.of(KubernetesVersion.V1_36, KubernetesVersion.V1_36, KubernetesVersion.V1_37, KubernetesVersion.V1_34);

    private final Network network;
    private final Set<Connection<?>> connections = new LinkedHashSet<>();
    private InMemoryApiServer server;
    private boolean isUp = true;
    private @Nullable String authorization;

    /**
     * Starts it.
     *
     * @param settings changes the settings of a server with the simulation's time and randomness
     */
    public SimulatedApiServer(Network network, UnaryOperator<EmbeddedApiServer.Builder> settings) {
        this.network = network;
        this.server = server(settings.apply(builder()));
    }

    private static EmbeddedApiServer.Builder builder() {
        return EmbeddedApiServer.builder()
                .clock(Simulation::now)
                .random(() -> Simulation.random().nextLong());
    }

    private static InMemoryApiServer server(EmbeddedApiServer.Builder builder) {
        return builder.inMemory((delay, task) -> Simulation.after(delay, "timer of the API server", task));
    }

    /** The objects; after a restart, another instance with the same content. */
    public ClusterObjects objects() {
        return server.store();
    }

    /** Ends all connections, in the middle; new ones are refused until it is started again. */
    public void stop() {
        isUp = false;
        List.copyOf(connections).forEach(Connection::reset);
        connections.clear();
    }

    /** Accepts connections again, like a server that could not be reached for some time. */
    public void resume() {
        isUp = true;
    }

    /** Starts it again, possibly with another release or other gates: with its objects, but without their history. */
    public void start(UnaryOperator<EmbeddedApiServer.Builder> settings) {
        server = server(settings.apply(builder()).after(objects()));
        isUp = true;
    }

    /** Ends all watches gracefully, as a server does with each after half an hour to an hour. */
    public void endWatches() {
        api().endWatches();
    }

    /** From now on, refuses each request whose Authorization header has another value, with 401. */
    public void trust(String header) {
        authorization = header;
    }

    /** Deletes a driver's slices of a node, as the kubelet does once the driver is gone. */
    public void wipe(String driver, String node) {
        objects().list("resourceslices").stream()
                .filter(slice -> slice.at("/spec/driver").asText().equals(driver))
                .filter(slice -> slice.at("/spec/nodeName").asText().equals(node))
                .forEach(slice -> objects()
                        .delete("resourceslices", "", slice.at("/metadata/name").asText()));
    }

    Network network() {
        return network;
    }

    void opened(Connection<?> connection) {
        connections.removeIf(one -> one.process().isDead());
        connections.add(connection);
    }

    void closed(Connection<?> connection) {
        connections.remove(connection);
    }

    boolean isUp() {
        return isUp;
    }

    InMemoryApi api() {
        return server.api();
    }

    boolean trusts(HttpRequest request) {
        return authorization == null
                || authorization.equals(
                        request.headers().firstValue("Authorization").orElse(""));
    }

    /** The revision a given number of changes ago, or the oldest known one. */
    long revisionBefore(int revisions) {
        return Math.max(objects().oldestRevision(), objects().revision() - revisions);
    }

    /** Changes an object for no reason, as another writer. */
    void touch(Call call) {
        String resource = call.resource().split("/", 2)[0];
        if (objects().find(resource, call.namespace(), call.name()).isPresent()) {
            String revision = Long.toString(objects().revision());
            objects()
                    .change(
                            resource,
                            call.namespace(),
                            call.name(),
                            object -> object.withObject("/metadata/annotations").put("simulation/touched", revision));
        }
    }

    /** Draws a release and, if it disables them by default, the features to enable. */
    public static FeatureGates drawnGates() {
        RandomGenerator random = Simulation.random();
        KubernetesVersion version = RELEASES.get(random.nextInt(RELEASES.size()));
        Map<FeatureGate, Boolean> gates = new EnumMap<>(FeatureGate.class);
        FEATURES.stream()
                .filter(gate -> version == KubernetesVersion.V1_34)
                .forEach(gate -> gates.put(gate, random.nextInt(4) > 0));
        return new FeatureGates(version, gates);
    }
}
