// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.cluster;

import io.dra4j.api.error.DraException;
import java.io.Serial;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A request to the API server failed.
 *
 * <p>The message has the request and the response, in a form fit for an Event of a pod. A
 * transient failure may resolve without a change: no connection, no response in time, 408, 429, 5xx.
 */
public class ClusterException extends DraException {

    @Serial
    private static final long serialVersionUID = 1L;

    static final int NOT_FOUND = 404;

    private final int status;
    private final @Nullable Duration retryAfter;

    /** Creates the failure that a response with an HTTP status reports. */
    public ClusterException(String message, int status, @Nullable Duration retryAfter) {
        super(message);
        this.status = status;
        this.retryAfter = retryAfter;
    }

    ClusterException(String message, @Nullable Throwable cause) {
        super(message, cause);
        this.status = 0;
        this.retryAfter = null;
    }

    private ClusterException(ClusterException failure, String more) {
        super(failure.getMessage() + more, failure);
        this.status = failure.status;
        this.retryAfter = failure.retryAfter;
    }

    ClusterException with(String more) {
        return new ClusterException(this, more);
    }

    /** Returns the HTTP status of the response, or 0 if there was no response. */
    public int status() {
        return status;
    }

    /** Returns how long the server asks to wait, or {@code null}. */
    public @Nullable Duration retryAfter() {
        return retryAfter;
    }

    /** Returns whether the same request may succeed later. */
    public boolean isTransient() {
        return status == 0 || status == 408 || status == 429 || status >= 500;
    }

    /** Returns whether the object was changed, deleted or created by another client in the meantime. */
    public boolean isConflict() {
        return status == NOT_FOUND || status == 409 || status == 410 || status == 412;
    }

    /** The API itself reports that it has no such object; a 404 of a proxy, or without the API, is not one. */
    public static final class NotFound extends ClusterException {

        @Serial
        private static final long serialVersionUID = 1L;

        public NotFound(String message) {
            super(message, NOT_FOUND, null);
        }
    }

    /** RBAC does not allow the driver's ServiceAccount to do it. */
    public static final class Forbidden extends ClusterException {

        @Serial
        private static final long serialVersionUID = 1L;

        private final String verb;
        private final String resource;

        /** Creates the failure; a ClusterRole lacks the verb for the resource. */
        public Forbidden(String message, String verb, String resource) {
            super(message, 403, null);
            this.verb = verb;
            this.resource = resource;
        }

        public String verb() {
            return verb;
        }

        public String resource() {
            return resource;
        }
    }

    /** The server lacks the API of this SDK; if that lasts, retries do not help. */
    public static final class ApiMissing extends ClusterException {

        @Serial
        private static final long serialVersionUID = 1L;

        public ApiMissing(String message) {
            super(message, NOT_FOUND, null);
        }
    }
}
