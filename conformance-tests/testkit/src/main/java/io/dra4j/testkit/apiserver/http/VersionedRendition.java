// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.http;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.store.Listing;
import io.dra4j.testkit.apiserver.store.StoredObject;
import io.dra4j.testkit.apiserver.store.WatchEvent;

/** Objects in another form than the stored one. */
final class VersionedRendition extends Rendition {
    private final Rendition form;
    private final ResourceKind served;

    VersionedRendition(Rendition form, ResourceKind served) {
        this.form = form;
        this.served = served;
    }

    @Override
    Body object(StoredObject object) {
        return form.object(object.in(served));
    }

    @Override
    Body list(ResourceKind kind, Listing listing) {
        return form.list(served, listing.in(served));
    }

    @Override
    boolean isStreamed() {
        return form.isStreamed();
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
        return form.event(new WatchEvent(event.type(), event.object().in(served)));
    }

    @Override
    byte[] failure(ObjectNode status) {
        return form.failure(status);
    }
}
