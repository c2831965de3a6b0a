// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.cdi;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/**
 * Validates CDI specs: the fields of CDI 1.1 and no others, of the right types, with devices that have edits.
 *
 * @see <a href="https://github.com/cncf-tags/container-device-interface/blob/main/SPEC.md">CDI</a>
 */
public final class CdiCheck {

    private static final long UINT32 = 0xffff_ffffL;
    private static final Check ID = Check.number(0, UINT32);
    private static final Check FILLED = Check.text(".+", "a text that is not empty");
    private static final Check ENV = Check.list(Check.text("[^=]+=.*", "an environment variable NAME=value"));

    private static final Check NODE = Check.object()
            .needs("path", Check.path())
            .may("hostPath", Check.path())
            .may("type", Check.text("[bcup]?", "a type of device node, b, c, u or p"))
            .may("major", Check.number(0, Long.MAX_VALUE))
            .may("minor", Check.number(0, Long.MAX_VALUE))
            .may("fileMode", ID)
            .may("permissions", Check.text("[rwm]*", "permissions of the letters r, w, m"))
            .may("uid", ID)
            .may("gid", ID);
    private static final Check MOUNT = Check.object()
            .needs("hostPath", FILLED)
            .needs("containerPath", Check.path())
            .may("options", Check.list(Check.text()))
            .may("type", Check.text())
            .and(CdiCheck::mountsAFile);
    private static final Check HOOK_NAME = Check.text(
            "prestart|createRuntime|createContainer|startContainer|poststart|poststop",
            "a hook of the OCI runtime specification");
    private static final Check HOOK = Check.object()
            .needs("hookName", HOOK_NAME)
            .needs("path", Check.path())
            .may("args", Check.list(Check.text()))
            .may("env", ENV)
            .may("timeout", Check.number(0, Integer.MAX_VALUE));
    private static final Check NET_DEVICE =
            Check.object().needs("hostInterfaceName", FILLED).needs("name", FILLED);
    private static final Check NET_DEVICES =
            Check.list(NET_DEVICE).and(Check.unique("hostInterfaceName")).and(Check.unique("name"));
    private static final Check DIRECTORY_NAME = Check.text("(?!\\.{1,2}$)[^/\\n]{0,4095}", "a name of a directory");
    private static final Check RDT = Check.object()
            .may("closID", DIRECTORY_NAME)
            .may("l3CacheSchema", Check.text())
            .may("memBwSchema", Check.text())
            .may("schemata", Check.list(Check.text()))
            .may("enableMonitoring", Check.bool());
    private static final Check EDITS = Check.object()
            .may("env", ENV)
            .may("deviceNodes", Check.list(NODE))
            .may("netDevices", NET_DEVICES)
            .may("hooks", Check.list(HOOK))
            .may("mounts", Check.list(MOUNT))
            .may("intelRdt", RDT)
            .may("additionalGids", Check.list(ID));
    private static final Check DEVICE = Check.object()
            .needs("name", Check.text(CdiName::problemOfDevice))
            .may("annotations", Check.texts())
            .needs("containerEdits", EDITS.and(CdiCheck::areNotEmpty));
    private static final Check DEVICES =
            Check.list(DEVICE).and(Check.unique("name")).and(CdiCheck::hasAnElement);
    private static final Check SPEC = Check.object()
            .needs("cdiVersion", FILLED)
            .needs("kind", Check.text(CdiName::problemOfKind))
            .may("annotations", Check.texts())
            .needs("devices", DEVICES)
            .may("containerEdits", EDITS);

    private CdiCheck() {}

    /** Returns the problems of a spec, a line each; its version is not checked. */
    public static List<String> problems(JsonNode spec) {
        List<String> problems = new ArrayList<>();
        SPEC.of(spec, "", problems);
        return problems.stream().map(String::strip).toList();
    }

    /** A mount of a file has its path; others, such as tmpfs, have any word. */
    private static void mountsAFile(JsonNode mount, String path, List<String> problems) {
        String type = mount.path("type").asText();
        boolean ofFile = type.isEmpty() || type.equals("bind") || type.equals("none");
        if (ofFile && !mount.path("hostPath").asText("/").startsWith("/")) {
            problems.add(path + ".hostPath must be an absolute path, not " + mount.get("hostPath"));
        }
    }

    private static void areNotEmpty(JsonNode edits, String path, List<String> problems) {
        boolean nothing = edits.valueStream().allMatch(one -> one.isEmpty() && (!one.isValueNode() || one.isNull()));
        if (edits.isObject() && nothing) {
            problems.add(path + " is empty: a device has edits");
        }
    }

    private static void hasAnElement(JsonNode list, String path, List<String> problems) {
        if (list.isArray() && list.isEmpty()) {
            problems.add(path + " is empty: a spec has one device at least");
        }
    }
}
