// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.checkpoint;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.deser.std.StdDelegatingDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdDelegatingSerializer;
import com.fasterxml.jackson.databind.type.TypeFactory;
import com.fasterxml.jackson.databind.util.Converter;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.container.Hook;
import io.dra4j.api.container.HookName;
import io.dra4j.api.container.IntelRdt;
import io.dra4j.api.container.Mount;
import io.dra4j.api.container.NetDevice;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The journal's own forms of the API's values: what a file keeps does not change with the API.
 *
 * <p>The order of the components is the order in the file.
 */
final class StoredForms {

    private StoredForms() {}

    /** Lets a module write and read the API's values in their stored forms. */
    static void addTo(SimpleModule module) {
        module.setMixInAnnotation(Phase.class, PhaseNames.class);
        store(module, HeldDevice.class, Device::of, Device.class, Device::held);
        store(module, ProviderState.class, State::of, State.class, State::state);
        store(module, ContainerEdits.class, Edits::of, Edits.class, Edits::edits);
        store(module, DeviceNode.class, Node::of, Node.class, Node::node);
        store(module, Hook.class, HookEntry::of, HookEntry.class, HookEntry::hook);
    }

    private static <T, S> void store(
            SimpleModule module, Class<T> type, Function<T, S> out, Class<S> stored, Function<S, T> in) {
        module.addSerializer(type, new StdDelegatingSerializer(type, new Form<>(type, stored, out)));
        module.addDeserializer(type, new StdDelegatingDeserializer<>(new Form<>(stored, type, in)));
    }

    private record Form<A, B>(Class<A> from, Class<B> to, Function<A, B> function) implements Converter<A, B> {

        @Override
        public B convert(A value) {
            return function.apply(value);
        }

        @Override
        public JavaType getInputType(TypeFactory types) {
            return types.constructType(from);
        }

        @Override
        public JavaType getOutputType(TypeFactory types) {
            return types.constructType(to);
        }
    }

    /** The names of phases that differ in the file. */
    private enum PhaseNames {
        @JsonProperty("STARTED")
        PREPARING
    }

    private record Device(
            String request,
            @Nullable String subrequest,
            PoolName pool,
            DeviceName device,
            @Nullable String shareId,
            Map<String, Quantity> consumedCapacity,
            boolean adminAccess,
            @Nullable String physicalId) {

        static Device of(HeldDevice held) {
            return new Device(
                    held.request(),
                    held.subrequest(),
                    held.pool(),
                    held.device(),
                    held.shareId(),
                    held.consumedCapacity(),
                    held.adminAccess(),
                    held.physicalId());
        }

        HeldDevice held() {
            return HeldDevice.builder(request, pool, device)
                    .subrequest(subrequest)
                    .shareId(shareId)
                    .consumedCapacity(consumedCapacity)
                    .adminAccess(adminAccess)
                    .physicalId(physicalId)
                    .build();
        }
    }

    private record State(int version, String json) {

        static State of(ProviderState state) {
            return new State(state.version(), state.rawJson());
        }

        ProviderState state() {
            return new ProviderState(version, json);
        }
    }

    private record Edits(
            Map<String, String> env,
            List<DeviceNode> deviceNodes,
            List<Mount> mounts,
            List<Hook> hooks,
            List<NetDevice> netDevices,
            List<Long> additionalGids,
            @Nullable IntelRdt intelRdt) {

        static Edits of(ContainerEdits edits) {
            return new Edits(
                    edits.env(),
                    edits.deviceNodes(),
                    edits.mounts(),
                    edits.hooks(),
                    edits.netDevices(),
                    edits.additionalGids(),
                    edits.intelRdt());
        }

        ContainerEdits edits() {
            return ContainerEdits.builder()
                    .env(env)
                    .deviceNodes(deviceNodes)
                    .mounts(mounts)
                    .hooks(hooks)
                    .netDevices(netDevices)
                    .additionalGids(additionalGids)
                    .intelRdt(intelRdt)
                    .build();
        }
    }

    private record Node(
            String path,
            @Nullable String hostPath,
            @Nullable String type,
            @Nullable Long major,
            @Nullable Long minor,
            @Nullable Integer fileMode,
            @Nullable String permissions,
            @Nullable Long uid,
            @Nullable Long gid) {

        static Node of(DeviceNode node) {
            return new Node(
                    node.path(),
                    node.hostPath(),
                    node.type(),
                    node.major(),
                    node.minor(),
                    node.fileMode(),
                    node.permissions(),
                    node.uid(),
                    node.gid());
        }

        DeviceNode node() {
            return DeviceNode.builder(path)
                    .hostPath(hostPath)
                    .type(type)
                    .major(major)
                    .minor(minor)
                    .fileMode(fileMode)
                    .permissions(permissions)
                    .uid(uid)
                    .gid(gid)
                    .build();
        }
    }

    private record HookEntry(
            HookName moment,
            String path,
            List<String> args,
            List<String> env,
            @Nullable Duration timeout) {

        static HookEntry of(Hook hook) {
            return new HookEntry(hook.name(), hook.path(), hook.args(), hook.env(), hook.timeout());
        }

        Hook hook() {
            return new Hook(moment, path, args, env, timeout);
        }
    }
}
