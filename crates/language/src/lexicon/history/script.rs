//! Scripts: alphabets without common letters, for languages whose words share no letter.
//!
//! The letters a to z are mapped one to one; their sounds do not matter to a model. Letters that look like Latin ones are
//! avoided where possible. Names keep the shared alphabet in every language.

/// The alphabets beyond the shared one, each with a letter for each of a to z.
const ALPHABETS: [&str; COUNT] = [
    // Cyrillic
    "ябцдэфгжийклмнёпъчштювщьыз",
    // Greek
    "αβςδεφγηιξκλμνωπψρστυθϟχζϡ",
    // Georgian
    "აბცდეფგჰიჯკლმნოპყრსტუვწხჟზ",
    // Armenian
    "աբցդեֆգհիջկլմնոպքրստըվւխյզ",
    // Tifinagh
    "ⴰⴱⵛⴷⴻⴼⴳⵀⵉⵊⴽⵍⵎⵏⵄⵒⵇⵔⵙⵜⵓⵠⵡⵅⵢⵣ",
    // Cherokee
    "ᎠᏆᏣᏓᎡᏩᎦᎭᎢᏧᎧᎳᎹᎾᎣᏇᏉᏒᏍᏔᎤᏙᏪᏥᏯᏎ",
    // Runic
    "ᚨᛒᚲᛞᛖᚠᚷᚺᛁᛃᚴᛚᛗᚾᛟᛈᛩᚱᛊᛏᚢᚡᚹᛪᛇᛉ",
    // Ethiopic
    "አበቸደኤፈገሀኢጀከለመነኦፐቀረሰተኡቨወኸየዘ",
];

/// The number of alphabets.
pub const COUNT: usize = 8;

/// Letters a to z in a script; 0 is the shared one. Capitals do not change.
pub fn write(letters: &str, script: usize) -> String {
    let Some(alphabet) = script.checked_sub(1).map(|at| ALPHABETS[at]) else { return letters.to_owned() };
    let letter = |c: char| match c {
        'a'..='z' => alphabet.chars().nth(c as usize - 'a' as usize).expect("an alphabet has 26 letters"),
        other => other,
    };
    letters.chars().map(letter).collect()
}

/// The letters a to z of a word in any script: the inverse of [`write()`].
pub fn read(word: &str) -> String {
    let letter = |c: char| {
        let place = ALPHABETS.iter().find_map(|alphabet| alphabet.chars().position(|other| other == c));
        place.map_or(c, |place| char::from(b'a' + place as u8))
    };
    word.chars().map(letter).collect()
}
