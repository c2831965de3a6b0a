// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import java.util.List;
import java.util.UUID;

/** CDI names that only the record of a claim knows: whoever loses that can't give them again. */
class NamesOfTheMoment extends CdiSpecs {

    @Override
    List<String> ids(String uid, String device, String share) {
        String moment = UUID.randomUUID().toString().substring(0, 8);
        return List.of(kind() + "=" + name(uid, device, share) + "_" + moment);
    }
}
