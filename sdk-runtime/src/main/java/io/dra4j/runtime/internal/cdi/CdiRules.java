// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cdi;

import io.dra4j.api.container.ContainerEdits;
import io.dra4j.api.container.DeviceNode;
import io.dra4j.api.container.Hook;
import io.dra4j.api.container.IntelRdt;
import io.dra4j.api.container.Mount;
import io.dra4j.api.container.NetDevice;
import io.dra4j.api.error.DraException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The rules that runtimes apply to a CDI spec, checked before it is written.
 *
 * @see <a href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">CDI</a>
 */
record CdiRules(String where) {

    private static final Pattern VENDOR_OR_CLASS = Pattern.compile("[A-Za-z]([A-Za-z0-9_.-]*[A-Za-z0-9])?");
    private static final Pattern DEVICE = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9_.:-]*[A-Za-z0-9])?");
    private static final Set<String> NODE_TYPES = Set.of("", "b", "c", "u", "p");
    private static final Pattern PERMISSIONS = Pattern.compile("[rwm]*");
    private static final long LARGEST_ID = 0xFFFF_FFFFL;
    private static final int LONGEST_CLOS_ID = 4095;

    static void requireKindPart(String part, String name) {
        new CdiRules("the CDI spec").require(VENDOR_OR_CLASS.matcher(name).matches(), part, name);
    }

    /** Returns whether a text is the id of a CDI device: {@code vendor/class=name}. */
    static boolean isDeviceId(String id) {
        int slash = id.indexOf('/');
        int equals = id.indexOf('=', slash + 1);
        return slash > 0
                && equals > 0
                && VENDOR_OR_CLASS.matcher(id.substring(0, slash)).matches()
                && VENDOR_OR_CLASS.matcher(id.substring(slash + 1, equals)).matches()
                && DEVICE.matcher(id.substring(equals + 1)).matches();
    }

    /**
     * Checks all of a spec.
     *
     * @throws DraException if a rule is broken; it names device, field and value
     */
    static void check(CdiSpec spec) {
        new CdiRules("the claim").check(spec.edits());
        Set<String> names = new HashSet<>();
        for (CdiSpec.Device device : spec.devices()) {
            CdiRules rules = new CdiRules("device " + device.name());
            rules.require(DEVICE.matcher(device.name()).matches(), "name", device.name());
            rules.require(names.add(device.name()), "name (it is used twice)", device.name());
            rules.check(device.edits());
        }
    }

    private void check(ContainerEdits edits) {
        edits.env().forEach(this::env);
        edits.deviceNodes().forEach(this::deviceNode);
        edits.mounts().forEach(this::mount);
        edits.hooks().forEach(this::hook);
        Set<String> hostNames = new HashSet<>();
        Set<String> names = new HashSet<>();
        for (NetDevice device : edits.netDevices()) {
            netDevice(device, hostNames, names);
        }
        edits.additionalGids().forEach(gid -> id("additionalGids", gid));
        intelRdt(edits.intelRdt());
    }

    private void env(String name, String value) {
        require(value.indexOf('\0') < 0, "env value of " + name, length(value));
    }

    private void deviceNode(DeviceNode node) {
        absolute("deviceNodes path", node.path());
        if (node.hostPath() != null) {
            absolute("deviceNodes hostPath", node.hostPath());
        }
        String type = node.type() == null ? "" : node.type();
        require(NODE_TYPES.contains(type), "deviceNodes type", type);
        String permissions = node.permissions() == null ? "" : node.permissions();
        require(PERMISSIONS.matcher(permissions).matches(), "deviceNodes permissions", permissions);
        require(
                node.fileMode() == null || node.fileMode() >= 0,
                "deviceNodes fileMode",
                String.valueOf(node.fileMode()));
        id("deviceNodes uid", node.uid());
        id("deviceNodes gid", node.gid());
    }

    private void mount(Mount mount) {
        if (mount.type() == null) {
            absolute("mounts hostPath", mount.hostPath());
        } else { // the source of a tmpfs, for instance, is not a path
            require(!mount.hostPath().isEmpty(), "mounts hostPath", mount.hostPath());
        }
        absolute("mounts containerPath", mount.containerPath());
    }

    private void hook(Hook hook) {
        absolute("hooks path", hook.path());
        Duration timeout = hook.timeout();
        require( // OCI: greater than zero; CDI writes whole seconds
                timeout == null || timeout.toSeconds() > 0, "hooks timeout", String.valueOf(timeout));
        for (String variable : hook.env()) {
            require(variable.indexOf('=') > 0, "hooks env", length(variable));
        }
    }

    private void netDevice(NetDevice device, Set<String> hostNames, Set<String> names) {
        require(
                !device.hostInterfaceName().isEmpty() && hostNames.add(device.hostInterfaceName()),
                "netDevices hostInterfaceName",
                device.hostInterfaceName());
        require(!device.name().isEmpty() && names.add(device.name()), "netDevices name", device.name());
    }

    private void intelRdt(@Nullable IntelRdt rdt) {
        String closId = rdt == null ? null : rdt.closId();
        if (closId != null) {
            boolean plain = !closId.equals(".") && !closId.equals("..");
            require(
                    plain && closId.length() <= LONGEST_CLOS_ID && closId.indexOf('/') < 0 && closId.indexOf('\n') < 0,
                    "intelRdt closID",
                    closId);
        }
    }

    private void absolute(String field, String path) {
        require(path.startsWith("/") && path.indexOf('\0') < 0, field, path);
    }

    private void id(String field, @Nullable Long id) {
        require(id == null || id >= 0 && id <= LARGEST_ID, field, String.valueOf(id));
    }

    /** Replaces a value that may be a secret: messages become Events. */
    private static String length(String value) {
        return value.length() + " characters";
    }

    private void require(boolean holds, String field, String value) {
        if (!holds) {
            throw new DraException("The container edits of %s break a rule of CDI: not a valid %s: \"%s\""
                    .formatted(where, field, value));
        }
    }
}
