package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LockTsTest {
    @ParameterizedTest
    @CsvSource({
        "50 04 706b ac02 03 76 01 76 63 000000000000012d, 300",
        "5004706bac0203, 300",
        "53 00 05, 5",
        "44 04 706b ac02, 300",
        "4c 04 706b ac, 0", // ts is cut
        "50 06 706b, 0", // primary is cut
        "50, 0",
        "51 04 706b ac02 03, 0", // no lock type
        "50 03 706b ac02 03, 0", // negative length
        "'', 0"
    })
    void readsTheStartTsOfALock(String lock, long expected) {
        byte[] bytes = Tables.hex("ff" + lock);

        assertThat(LockTs.parse(bytes, 1, bytes.length)).isEqualTo(expected);
    }
}
