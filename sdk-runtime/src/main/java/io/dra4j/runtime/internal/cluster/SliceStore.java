// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import io.dra4j.api.device.CounterSet;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.PoolName;
import io.dra4j.rules.FeatureGates;
import io.dra4j.rules.FieldErrors.FieldError;
import io.dra4j.rules.Release;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The {@code ResourceSlice}s of this driver on this node, or of its controller, in the cluster.
 *
 * <p>All methods except {@link Watch#close} block for at most a few seconds, and throw {@link ClusterException}; none
 * retries. Calls may come from any thread.
 */
public interface SliceStore {

    String driver();

    /** Returns the errors for which a server of a release would refuse a slice, as it is sent. */
    List<FieldError> refusals(Content content, FeatureGates gates);

    /** Returns the scopes in which the publisher may have slices. */
    default List<Scope> scopes() {
        return List.of(Scope.NODE, Scope.CLUSTER);
    }

    /** Lists the slices of a scope; in {@link Scope#CLUSTER}, which may have many of others, only its own. */
    Snapshot list(Scope scope);

    /** Watches the slices of a scope after a snapshot of it. */
    Watch watch(Scope scope, String resourceVersion, Watch.Listener<Stored> listener);

    /**
     * Creates a slice, owned by the node; one of the controller has no owner.
     *
     * @param index the slice's place in its pool, which becomes the first part of its name
     */
    Stored create(int index, Content content);

    /**
     * Sends a dry run of a new slice, which the server does not store.
     *
     * @return the slice that it would store, without fields whose feature gate is off
     */
    Content tryCreate(Content content);

    /** Replaces a slice; a conflict if it has changed. */
    Stored update(Stored slice, Content content);

    /** Deletes a slice; succeeds if it does not exist; a conflict if it has changed. */
    void delete(Stored slice);

    /** Reads the server's Kubernetes release; empty if it does not report it. */
    Optional<Release> kubernetes();

    enum Scope {
        /** Slices for devices of this node: {@code spec.nodeName} is the node. */
        NODE,
        /** Slices for devices of no single node, published by any node or the controller: distinguished by owner. */
        CLUSTER
    }

    /** All slices of a scope at one moment. */
    record Snapshot(List<Stored> slices, String resourceVersion) {

        public Snapshot {
            slices = List.copyOf(slices);
        }
    }

    /**
     * A slice in the API server.
     *
     * @param isOurs whether its owner is this driver's node as it is now; for a controller, whether it has none
     * @param content its content; if it can't be decoded, without devices and counter sets
     * @param isDecoded whether its content is complete
     * @param others the part of its metadata that belongs to others, as JSON, which updates keep
     */
    record Stored(
            String name,
            String uid,
            String resourceVersion,
            boolean isOurs,
            Content content,
            boolean isDecoded,
            String others) {

        /** A slice whose content is complete. */
        public Stored(String name, String uid, String resourceVersion, boolean isOurs, Content content) {
            this(name, uid, resourceVersion, isOurs, content, true, "{}");
        }

        public Stored withContent(Content other) {
            return new Stored(name, uid, resourceVersion, isOurs, other, isDecoded, others);
        }
    }

    /**
     * The content of a slice: devices, or counter sets, or neither (an empty pool), or, before Kubernetes 1.35, both.
     *
     * @param generation the pool's generation: consumers ignore slices of older ones
     * @param sliceCount the number of slices of the pool in this generation
     * @param devices the devices, in order of preference
     * @param partitionTypeAttribute the attribute with the types of devices that consume counters
     * @param skipNodeOperations the kubelet's calls that the devices do not need, by the API's names
     */
    record Content(
            PoolName pool,
            long generation,
            long sliceCount,
            Placement placement,
            List<Device> devices,
            List<CounterSet> counterSets,
            @Nullable String partitionTypeAttribute,
            List<String> skipNodeOperations) {

        public Content {
            devices = List.copyOf(devices);
            counterSets = List.copyOf(counterSets);
            skipNodeOperations = List.copyOf(skipNodeOperations);
        }

        @Override
        public boolean equals(@Nullable Object other) {
            // A record's own costs the start of a driver some milliseconds.
            return other instanceof Content that && all().equals(that.all());
        }

        @Override
        public int hashCode() {
            return all().hashCode();
        }

        private List<@Nullable Object> all() {
            return Arrays.asList(
                    pool,
                    generation,
                    sliceCount,
                    placement,
                    devices,
                    counterSets,
                    partitionTypeAttribute,
                    skipNodeOperations);
        }

        public Content(
                PoolName pool,
                long generation,
                long sliceCount,
                Placement placement,
                List<Device> devices,
                List<CounterSet> counterSets) {
            this(pool, generation, sliceCount, placement, devices, counterSets, null, List.of());
        }

        public Content at(long newGeneration, long newSliceCount) {
            return new Content(
                    pool,
                    newGeneration,
                    newSliceCount,
                    placement,
                    devices,
                    counterSets,
                    partitionTypeAttribute,
                    skipNodeOperations);
        }

        public Content withDevices(List<Device> newDevices) {
            return new Content(
                    pool,
                    generation,
                    sliceCount,
                    placement,
                    newDevices,
                    counterSets,
                    partitionTypeAttribute,
                    skipNodeOperations);
        }

        public Content with(@Nullable String newTypeAttribute, List<String> newSkipOperations) {
            return new Content(
                    pool, generation, sliceCount, placement, devices, counterSets, newTypeAttribute, newSkipOperations);
        }
    }
}
