// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.container;

/** The points at which hooks run, as defined by the OCI runtime specification. */
public enum HookName {
    /** Before the user's process starts; deprecated by OCI in favour of the next three. */
    PRESTART("prestart"),
    /** In the runtime's namespace, after the environment was created and before pivot_root. */
    CREATE_RUNTIME("createRuntime"),
    /** In the container's namespace, before pivot_root. */
    CREATE_CONTAINER("createContainer"),
    /** In the container's namespace, just before the user's process. */
    START_CONTAINER("startContainer"),
    /** In the runtime's namespace, after the user's process was started. */
    POSTSTART("poststart"),
    /** In the runtime's namespace, after the container was deleted. */
    POSTSTOP("poststop");

    private final String cdiName;

    HookName(String cdiName) {
        this.cdiName = cdiName;
    }

    /**
     * Returns the name in CDI specs.
     *
     * @return the name, for instance {@code createContainer}
     */
    public String cdiName() {
        return cdiName;
    }
}
