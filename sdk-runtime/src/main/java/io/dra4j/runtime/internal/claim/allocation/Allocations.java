// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.claim.allocation;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.AppliedConfig;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ConfigSource;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Placement;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.error.PrepareException;
import io.dra4j.rules.OwnNames;
import io.dra4j.runtime.internal.cluster.ClaimObject;
import io.dra4j.runtime.internal.cluster.ClaimObject.Allocation;
import io.dra4j.runtime.internal.cluster.ClaimObject.Config;
import io.dra4j.runtime.internal.cluster.ClaimObject.Result;
import io.dra4j.runtime.internal.pins.PooledDevice;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Reads what a claim's object asks of this driver: its own results, with their configurations.
 *
 * <p>Pure. Results and configurations of other drivers are skipped.
 */
public final class Allocations {

    private final String driver;
    private final OwnNames names;
    private final List<ConfigType<?>> configTypes;

    public Allocations(String driver, List<ConfigType<?>> configTypes) {
        this.driver = driver;
        this.names = new OwnNames(driver);
        this.configTypes = ConfigCheck.declared(configTypes);
    }

    /**
     * Returns this driver's results.
     *
     * @throws PrepareException if the object is of another claim, not allocated, or has none
     */
    List<Result> results(ClaimRef ref, ClaimObject object) {
        if (!object.uid().equals(ref.uid())) {
            throw new PrepareException(
                    "the claim was replaced by another of the same name (UID %s)".formatted(object.uid()));
        }
        if (object.allocation() == null) {
            throw new PrepareException("the claim is not allocated");
        }
        List<Result> own = own(object);
        if (own.isEmpty()) {
            throw new PrepareException("the claim was allocated no device of driver " + driver);
        }
        return own;
    }

    private List<Result> own(ClaimObject object) {
        Allocation allocation = object.allocation();
        return allocation == null
                ? List.of()
                : allocation.results().stream()
                        .filter(result -> driver.equals(result.driver()))
                        .toList();
    }

    /** Returns whether a claim was allocated a device of this driver. */
    public boolean isAllocated(ClaimObject object) {
        return !own(object).isEmpty();
    }

    /** Returns whether a claim was allocated any of the given devices of this driver. */
    public boolean isAllocatedAny(ClaimObject object, List<HeldDevice> devices) {
        return own(object).stream()
                .anyMatch(result -> devices.stream()
                        .anyMatch(device -> device.pool().value().equals(result.pool())
                                && device.device().value().equals(result.device())));
    }

    /** Returns whether the kubelet never asks this driver to prepare a claim. */
    public boolean skipsPrepare(ClaimObject object) {
        return skips(object, "NodePrepareResources");
    }

    /** Returns whether the kubelet never asks this driver to unprepare a claim. */
    public boolean skipsUnprepare(ClaimObject object) {
        return skips(object, "NodeUnprepareResources");
    }

    /** A call is skipped if none of the driver's devices in the claim needs it. */
    private boolean skips(ClaimObject object, String call) {
        List<Result> own = own(object);
        return !own.isEmpty()
                && own.stream()
                        .map(Result::skipNodeOperations)
                        .allMatch(skipped -> skipped.contains(call) || skipped.contains("*"));
    }

    /**
     * Returns what the claim will hold, in the allocation's order.
     *
     * @throws PrepareException if {@link #results} does, or a result names no pool and device
     */
    public List<HeldDevice> devices(ClaimRef ref, ClaimObject object) {
        return results(ref, object).stream().map(this::held).toList();
    }

    private HeldDevice held(Result result) {
        String main = ConfigEntry.mainRequest(result.request());
        try {
            return HeldDevice.builder(main, new PoolName(result.pool()), new DeviceName(result.device()))
                    .subrequest(
                            main.equals(result.request())
                                    ? null
                                    : result.request().substring(main.length() + 1))
                    .shareId(result.shareId())
                    .consumedCapacity(byBareName(result.consumedCapacity()))
                    .adminAccess(result.adminAccess())
                    .build();
        } catch (IllegalArgumentException e) {
            throw new PrepareException("the claim's allocation is not valid: " + e.getMessage(), e);
        }
    }

    /** A scheduler may write either form of a name; providers and the journal use the short form. */
    private Map<String, Quantity> byBareName(Map<String, Quantity> consumed) {
        Map<String, Quantity> byName = new LinkedHashMap<>();
        consumed.forEach((name, amount) -> byName.merge(names.bare(name), amount, Allocations::sum));
        return byName;
    }

    /** Returns the devices of a record in the form that {@link #devices} returns, whichever build recorded them. */
    public Set<HeldDevice> unidentified(List<HeldDevice> recorded) {
        return recorded.stream()
                .map(device -> device.toBuilder()
                        .physicalId(null)
                        .consumedCapacity(byBareName(device.consumedCapacity()))
                        .build())
                .collect(Collectors.toSet());
    }

    private static Quantity sum(Quantity one, Quantity other) {
        return new Quantity(one.amount().add(other.amount()).toPlainString());
    }

    /**
     * Returns the claim as the provider sees it.
     *
     * @throws PrepareException if a device does not exist, or a configuration is not valid
     */
    public AllocatedClaim read(ClaimRef ref, ClaimObject object, Inventory inventory) {
        List<Result> own = results(ref, object);
        Allocation allocation = object.allocation();
        ConfigChoice configs =
                new ConfigChoice(driver, configTypes, allocation == null ? List.of() : allocation.configs());
        List<AllocatedDevice> devices = own.stream()
                .map(result -> allocated(result, object, configs, inventory))
                .toList();
        return AllocatedClaim.builder(ref)
                .devices(devices)
                .rawJson(object.json())
                .build();
    }

    private AllocatedDevice allocated(Result result, ClaimObject object, ConfigChoice configs, Inventory inventory) {
        HeldDevice held = held(result);
        Optional<Device> device = published(held, inventory);
        return AllocatedDevice.builder(Hardware.identified(held, device))
                .deviceClass(object.deviceClasses().get(result.request()))
                .configs(configs.configsOf(result, device))
                .knownTypes(configTypes)
                .build();
    }

    private Optional<Device> published(HeldDevice wanted, Inventory inventory) {
        PoolName name = wanted.pool();
        Pool pool = inventory.pool(name).orElse(null);
        if (pool == null) {
            throw new PrepareException("driver " + driver + " has no pool " + name);
        }
        if (pool.placement() instanceof Placement.PublishedElsewhere) {
            return Optional.empty();
        }
        Optional<Device> device = inventory.device(name, wanted.device());
        if (device.isEmpty()) {
            throw new PrepareException("pool " + name + " has no device " + wanted.device());
        }
        if (wanted.shareId() != null && !device.get().allowMultipleAllocations()) {
            throw new PrepareException("the claim has a share of device %s, which does not allow multiple allocations"
                    .formatted(PooledDevice.of(wanted)));
        }
        return device;
    }

    /**
     * Chooses the configurations of each device by the API's rules.
     *
     * <p>Each entry of the driver is decoded, whether it applies or not. Those of the class come before those of the
     * claim, and are searched from the last to the first: an entry is for a result if it names no request, the result's
     * request (with its subrequest, if there is one), or the main request of its subrequest. The search for a device
     * ends when each matching kind is found, so earlier entries are neither validated nor rejected as unsuitable. One
     * object serves one claim.
     */
    private static final class ConfigChoice {

        private final List<ConfigType<?>> types;
        private final List<ConfigEntry> lastFirst = new ArrayList<>();

        /**
         * Decodes a claim's entries.
         *
         * @throws PrepareException if an entry of this driver can't be decoded
         */
        ConfigChoice(String driver, List<ConfigType<?>> types, List<Config> configs) {
            this.types = types;
            ConfigDecoder decoder = new ConfigDecoder(types);
            for (ConfigSource source : List.of(ConfigSource.FROM_CLASS, ConfigSource.FROM_CLAIM)) {
                for (int index = 0; index < configs.size(); index++) {
                    Config config = configs.get(index);
                    if (ConfigEntry.source(config) == source && driver.equals(config.driver())) {
                        lastFirst.add(0, ConfigEntry.decode(index, config, decoder));
                    }
                }
            }
        }

        /**
         * Returns what applies to a result, at most one configuration of each type.
         *
         * @param device the published device; empty if it is published elsewhere
         * @throws PrepareException if an entry that applies is not valid, or an entry names the request
         *     of a device that it does not fit
         */
        List<AppliedConfig<?>> configsOf(Result result, Optional<Device> device) {
            List<ConfigType<?>> fitting = types.stream()
                    .filter(type -> device.map(type.appliesTo()::test).orElse(true))
                    .toList();
            List<ConfigEntry> found = find(result, fitting);
            List<AppliedConfig<?>> chosen = new ArrayList<>();
            for (ConfigType<?> type : fitting) {
                choose(type, found, result).ifPresent(chosen::add);
            }
            return chosen;
        }

        /** Returns the entries that apply, the last one first. */
        private List<ConfigEntry> find(Result result, List<ConfigType<?>> fitting) {
            Set<ConfigType<?>> missing = new HashSet<>(fitting);
            List<ConfigEntry> found = new ArrayList<>();
            for (ConfigEntry entry : lastFirst) {
                if (entry.isFor(result.request())) {
                    if (missing.contains(entry.type())) {
                        found.add(entry);
                        if (entry.type().merge() == null) {
                            missing.remove(entry.type());
                        }
                        if (missing.isEmpty()) {
                            return found;
                        }
                    } else if (!fitting.contains(entry.type()) && !entry.isForAllRequests()) {
                        throw misfit(entry, result, fitting);
                    }
                }
            }
            return found;
        }

        private static PrepareException misfit(ConfigEntry entry, Result result, List<ConfigType<?>> fitting) {
            String kinds = fitting.isEmpty()
                    ? "no configurations"
                    : fitting.stream()
                            .map(ConfigType::kind)
                            .collect(Collectors.joining(" or ", "configurations of kind ", ""));
            return new PrepareException("%s: cannot apply %s to device %s/%s of request %s: it takes %s"
                    .formatted(
                            entry.describe(),
                            entry.type().kind(),
                            result.pool(),
                            result.device(),
                            result.request(),
                            kinds));
        }

        private static <T> Optional<AppliedConfig<T>> choose(
                ConfigType<T> type, List<ConfigEntry> found, Result result) {
            BinaryOperator<T> merge = type.merge();
            AppliedConfig<T> chosen = null;
            for (int i = found.size() - 1; i >= 0; i--) {
                ConfigEntry entry = found.get(i);
                if (entry.type().equals(type)) {
                    AppliedConfig<T> own = entry.valid(type, entry.value(type));
                    chosen = merge == null || chosen == null
                            ? own
                            : entry.valid(type, merge.apply(chosen.value(), own.value()));
                    if (result.adminAccess()) {
                        entry.requireUnchanged(type, chosen.value(), result.request());
                    }
                }
            }
            return chosen == null ? defaults(type) : Optional.of(chosen);
        }

        private static <T> Optional<AppliedConfig<T>> defaults(ConfigType<T> type) {
            return Optional.ofNullable(type.defaults())
                    .map(Supplier::get)
                    .map(value -> ConfigDecoder.valid(type, value))
                    .map(value -> new AppliedConfig<>(value, ConfigSource.DEFAULT, -1, List.of()));
        }
    }
}
