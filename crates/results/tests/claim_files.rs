//! How files state claims, and what is said of those that do it wrongly.

use invitro_results::claims::{Claims, built_in, measure};
use invitro_results::{Error, LanguageMetric, Measure, Plan, Scorer, Statistic, Targets};
use std::path::Path;

#[test]
fn files_say_what_is_wrong_with_them() {
    let wrong =
        |claim: &str| Claims::parse(&format!("[[claims]]\nid = \"x\"\nsays = \"\"\n{claim}")).unwrap_err().to_string();
    for (claim, why) in [
        (
            "estimate = { mean = \"gramatical\" }",
            "the claim `x`: `estimate`: `gramatical` is not a measure; the nearest known one is `grammatical`",
        ),
        (
            "estimate = { maen = \"types\" }",
            "the claim `x`: `estimate`: has the keys maen; one of them must be mean, difference, ratio, effect, bend, correlation, slope, words, order",
        ),
        (
            "estimate = { mean = \"types\", moment = \"peek\" }",
            "the claim `x`: `estimate`: `moment`: `peek` is not a moment (nor a step); the nearest known one is `peak`",
        ),
        (
            "estimate = { mean = \"types\", momnet = \"peak\" }",
            "the claim `x`: `estimate`: `momnet` is not a known key; the nearest known one is `moment`",
        ),
        ("estimate = { effect = \"types\" }", "the claim `x`: `estimate`: `effect` needs `of`"),
        (
            "estimate = { effect = \"types\", of = \"bridges\" }",
            "the claim `x`: `estimate`: `of`: `bridges` is not a predictor; the nearest known one is `bridge`",
        ),
        (
            "estimate = { ratio = \"types\" }",
            "the claim `x`: `estimate`: `ratio` needs two measures, conditions or moments",
        ),
        (
            "estimate = { words = \"contrast\", of = \"leters\" }",
            "the claim `x`: `estimate`: `of`: `leters` is not a covariate of words; the nearest known one is `letters`",
        ),
        (
            "estimate = { words = \"logprob\", cutoff = \"letters\" }",
            "the claim `x`: `estimate`: `letters` is not a covariate with a cut-off; the nearest known one is `rank`",
        ),
        (
            "estimate = { words = \"logprob\", cutoff = \"rank\", width = 0 }",
            "the claim `x`: `estimate`: `width`: 0 must be a share of |V|, above 0 and at most 1",
        ),
        (
            "estimate = { words = \"logprob\", cutoff = \"rank\", of = \"letters\" }",
            "the claim `x`: `estimate`: `of` is not a known key; the nearest known one is `at`",
        ),
        (
            "estimate = { slope = \"types\", with = [\"bridge\", \"similarity\"] }",
            "the claim `x`: `estimate`: `with`: `slope` needs one predictor",
        ),
        (
            "estimate = { mean = \"types\", times = { mean = \"type\" } }",
            "the claim `x`: `estimate`: `times`: `type` is not a measure; the nearest known one is `types`",
        ),
        (
            "estimate = { mean = \"types\" }\nagainst = \"y\"",
            "the claim `x`: `against`: `y` is not the id of a claim; the nearest known one is `x`",
        ),
        (
            "estimate = { mean = \"types\" }\nagainst = \"x\"",
            "the claim `x`: `against`: `x` has no estimate of its own",
        ),
        ("all = [\"x\"]\nagainst = \"x\"", "the claim `x`: `against` needs an `estimate`"),
        (
            "estimate = { mean = \"types\", less = { mean = \"facts\" } }\nreadings = { settings = true }",
            "the claim `x`: `readings` cannot be with `times`, `less` or `against`",
        ),
        (
            "estimate = { difference = \"types\", of = { a.b = [1] } }",
            "the claim `x`: `estimate`: `of`: a.b must have two levels",
        ),
        (
            "estimate = { order = \"types\" }",
            "the claim `x`: `estimate`: `order` needs two measures, or two conditions",
        ),
        (
            "estimate = { mean = \"types\" }\nexpect = \"more than 0\"",
            "the claim `x`: `expect`: `more than 0` must be `above X`, `below X`, `other than X`, `within ±X` or a number",
        ),
        (
            "says_ = 1\nestimate = { mean = \"types\" }",
            "the claim `x`: `says_` is not a known key; the nearest known one is `says`",
        ),
        ("all = [\"y\"]", "the claim `x`: `y` is not the id of a claim; the nearest known one is `x`"),
        ("", "the claim `x`: it must have either `estimate` or `all`, a list of claims"),
        (
            "estimate = { mean = \"types\" }\nreadings = { K = [0.3] }",
            "the claim `x`: `readings`: `K`: `0.3` is not a K that is recorded; the nearest known one is `0.1`",
        ),
    ] {
        assert_eq!(wrong(claim), why, "{claim}");
    }
    assert_eq!(
        Claims::parse("claims_from = [\"standrad\"]").unwrap_err().to_string(),
        "`standrad` is not a built-in file of claims; the nearest known one is `standard`"
    );
    assert_eq!(
        Claims::parse("claims_from = [\"standard\"]\nprimary = [\"share-nome\"]").unwrap_err().to_string(),
        "`share-nome` is not the id of a claim; the nearest known one is `share-none`"
    );
    assert!(Claims::parse("questoin = \"\"").unwrap_err().to_string().contains("the nearest known one is `question`"));
}

/// A study's own claims are about settings and levels that it has.
#[test]
fn a_plan_knows_the_settings_of_its_claims() {
    let parse = |claims: &str| {
        let text = format!(
            "name = \"x\"\nquestion = \"Why?\"\n[experiment.tokenizer]\nvocab = 512\nshare = \"all\"\n[factors]\n\
             tokenizer.share = [\"all\", \"none\"]\n[[claims]]\nid = \"a\"\nsays = \"\"\n{claims}"
        );
        Plan::parse::<Error>(&text, Path::new("x.toml"), |_, base| Ok(base))
    };
    let plan = parse("estimate = { difference = \"types\", of = { tokenizer.share = [\"none\", \"all\"] } }").unwrap();
    assert_eq!(plan.claims().unwrap().claims.len(), 1);
    let again = Plan::parse::<Error>(&plan.to_toml(), Path::new(""), |_, base| Ok(base));
    assert_eq!(again.unwrap().claims(), plan.claims(), "a plan that is written has its claims");
    let wrong = |claims: &str| parse(claims).unwrap_err().to_string();
    assert!(
        wrong("estimate = { difference = \"types\", of = { tokenizer.share = [\"nome\", \"all\"] } }")
            .ends_with("the claim `a`: `nome` is not a level of tokenizer.share; the nearest known one is `none`")
    );
    let dose = "estimate = { mean = \"types\", at = { tokenizer.share_p = 0.5 } }";
    assert!(wrong(dose).contains("`random 0.5` is not a level of tokenizer.share"), "{}", wrong(dose));
    let random = |claim: &str| {
        let text = format!(
            "name = \"x\"\n[experiment.tokenizer]\nshare = \"all\"\nshare_p = 0.5\n[factors]\ntokenizer.share = [\"random\"]\n\
             tokenizer.share_p = [0.25, 0.75]\n[[claims]]\nid = \"a\"\nsays = \"\"\n{claim}"
        );
        Plan::parse::<Error>(&text, Path::new("x.toml"), |_, base| Ok(base))
    };
    random("estimate = { difference = \"types\", of = { tokenizer.share_p = [0.75, 0.25] } }").unwrap();
    random("estimate = { mean = \"types\", times = { mean = \"facts\", at = { tokenizer.share = \"random\" } } }")
        .unwrap();
    let wrong_part =
        random("estimate = { mean = \"types\", less = { mean = \"facts\", at = { tokenizer.share = \"nome\" } } }");
    assert!(wrong_part.unwrap_err().to_string().contains("`nome` is not a level of tokenizer.share"));
    assert!(
        wrong("estimate = { effect = \"types\", of = \"tokenizer.vocabs\" }").ends_with(
            "the claim `a`: `tokenizer.vocabs` is not a setting; the nearest known one is `tokenizer.vocab`"
        )
    );
}

#[test]
fn the_built_in_claims_can_be_read() {
    for name in ["paper", "standard"] {
        let own = built_in(name).unwrap();
        assert!(own.claims.len() > 10 && own.claims.iter().all(|claim| !claim.primary), "{name}");
    }
    // Names on disk are names of measures too.
    let share = Measure::reach(Scorer::Unigram, Targets::Allowed, Statistic::Share);
    assert_eq!(measure("reach.unigram.allowed.share@0.1").unwrap(), share);
    let distance = Measure::Language(LanguageMetric::StemDistance);
    assert_eq!(measure("distance.stems").unwrap(), distance);
}
