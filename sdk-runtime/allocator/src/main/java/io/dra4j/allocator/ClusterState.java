// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.HeldDevice;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Quantity;
import io.dra4j.allocator.model.Slice;
import io.dra4j.allocator.model.TaintRule;
import io.dra4j.rules.OwnNames;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** An immutable view of the objects of a cluster that decide what a claim gets. */
public final class ClusterState {
    private final Map<String, DeviceClass> classes = new HashMap<>();
    private final List<Slice> slices;
    private final Map<PoolId, List<Slice>> byPool = new TreeMap<>();
    private final Map<DeviceId, List<Holder>> holders = new HashMap<>();
    private final List<Claim> claims;
    private final List<TaintRule> taintRules;

    /**
     * Creates a view of a cluster.
     *
     * @param claims of all namespaces; those that are not allocated do not count
     */
    public ClusterState(
            Collection<DeviceClass> classes,
            Collection<Slice> slices,
            Collection<Claim> claims,
            Collection<TaintRule> taintRules) {
        classes.forEach(one -> this.classes.put(one.name(), one));
        this.slices = slices.stream().sorted(Comparator.comparing(Slice::name)).toList();
        this.slices.forEach(this::addToPool);
        this.claims = List.copyOf(claims);
        this.claims.forEach(this::addHolders);
        byPool.replaceAll((id, some) -> List.copyOf(some));
        holders.replaceAll((id, some) -> List.copyOf(some));
        this.taintRules = List.copyOf(taintRules);
    }

    private void addToPool(Slice slice) {
        byPool.computeIfAbsent(slice.pool(), id -> new ArrayList<>(1)).add(slice);
    }

    private void addHolders(Claim claim) {
        for (HeldDevice device : claim.devices()) {
            holders.computeIfAbsent(device.id(), id -> new ArrayList<>(1)).add(new Holder(claim.fullName(), device));
        }
    }

    public Optional<DeviceClass> deviceClass(String name) {
        return Optional.ofNullable(classes.get(name));
    }

    public Collection<DeviceClass> classes() {
        return List.copyOf(classes.values());
    }

    /** Returns all slices, by name. */
    public List<Slice> slices() {
        return slices;
    }

    /** Returns the slices of a pool, of all generations, by name. */
    public List<Slice> slices(PoolId pool) {
        return byPool.getOrDefault(pool, List.of());
    }

    /** Returns the pools that have slices, by driver and name. */
    public Set<PoolId> pools() {
        return Collections.unmodifiableSet(byPool.keySet());
    }

    public List<Claim> claims() {
        return claims;
    }

    /** Returns the claims that have a device, or shares of it. */
    public List<Holder> holders(DeviceId device) {
        return holders.getOrDefault(device, List.of());
    }

    /** Returns how much of a device's capacity claims have in total, under either form of its name. */
    public Quantity consumed(DeviceId device, String capacity) {
        OwnNames names = new OwnNames(device.driver());
        return holders(device).stream()
                .flatMap(one -> names.find(one.device().consumedCapacity(), capacity).stream())
                .reduce(Quantity.ZERO, Quantity::plus);
    }

    public List<TaintRule> taintRules() {
        return taintRules;
    }
}
