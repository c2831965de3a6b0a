// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.device;

/**
 * A kubelet call that the devices of a pool do not need.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/5945-dra-optional-node-operations">
 *     KEP-5945</a>
 */
public enum NodeOperation {
    /** Preparing a claim; skipped only together with {@link #UNPREPARE}. */
    PREPARE("NodePrepareResources"),
    /** Unpreparing a claim. */
    UNPREPARE("NodeUnprepareResources"),
    /** All calls, including those of later releases. */
    ALL("*");

    private final String apiName;

    NodeOperation(String apiName) {
        this.apiName = apiName;
    }

    /** {@return the name in the API} */
    public String apiName() {
        return apiName;
    }
}
