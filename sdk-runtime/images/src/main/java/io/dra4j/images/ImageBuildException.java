// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.images;

/** A reason why an image can't be built; the message is for the person who builds it. */
final class ImageBuildException extends RuntimeException {

    private static final long serialVersionUID = 1;

    ImageBuildException(String message) {
        super(message);
    }

    ImageBuildException(String message, Throwable cause) {
        super(message, cause);
    }
}
