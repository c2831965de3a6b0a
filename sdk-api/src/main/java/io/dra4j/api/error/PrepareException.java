// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api.error;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The reason why a claim can't be prepared or unprepared, in words for the owner of the pod.
 *
 * <p>The message appears in an Event on the pod: keep it to one short sentence, without the claim's name (the kubelet
 * adds it), and without secrets. The kubelet tries again after 60 to 90 seconds.
 */
public final class PrepareException extends DraException {

    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception without a cause.
     *
     * @param message one sentence for the owner of the pod
     */
    public PrepareException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause, which is logged and not shown to the owner of the pod.
     *
     * @param message one sentence for the owner of the pod
     * @param cause what made it fail
     */
    public PrepareException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
