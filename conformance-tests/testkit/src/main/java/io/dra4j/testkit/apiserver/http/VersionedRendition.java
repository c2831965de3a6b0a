// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.store.Listing;
import io.dra4j.testkit.apiserver.store.StoredObject;
import io.dra4j.testkit.apiserver.store.WatchEvent;

/** Objects in another version than the stored one. */
final class VersionedRendition extends Rendition {
    private final Rendition form;
    private final String version;

    VersionedRendition(Rendition form, String version) {
        this.form = form;
        this.version = version;
    }

    @Override
    Body object(StoredObject object) {
        return form.object(object.in(version));
    }

    @Override
    Body list(ResourceKind kind, Listing listing) {
        return form.list(kind.in(version), listing.in(version));
    }

    @Override
    String watchType() {
        return form.watchType();
    }

    @Override
    Body status(ObjectNode status) {
        return form.status(status);
    }

    @Override
    byte[] event(WatchEvent event) {
        return form.event(new WatchEvent(event.type(), event.object().in(version)));
    }

    @Override
    byte[] failure(ObjectNode status) {
        return form.failure(status);
    }
}
